"""Which part of a text is its evidence? One file an extractor."""
