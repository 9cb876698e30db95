"""One planted word."""
