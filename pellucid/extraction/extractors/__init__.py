"""Extractors: one file an extractor."""
