"""What a text is: examples, units, ranges of units."""
