"""What is said of layers: which words they use, what concepts they keep, what a lens reads."""
