"""Lists of words a class: the words, clouds of them, and how far the classes' lists overlap."""
