"""Checks, one a file: what no single text can answer of a method."""
