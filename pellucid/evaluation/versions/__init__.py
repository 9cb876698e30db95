"""Explanations of the same texts under two versions of a model."""
