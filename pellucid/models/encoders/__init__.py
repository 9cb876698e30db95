"""Encoders that are trained from word vectors on: one file an encoder, found by the catalogue."""
