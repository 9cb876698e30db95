"""Where do the words of a concept come from? One reader a file."""
