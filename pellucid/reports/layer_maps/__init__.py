"""A layer analysis on a page: maps of layers and words, curves of sums, and tables of words."""
