"""The outcomes of checks, on a page and in a terminal."""
