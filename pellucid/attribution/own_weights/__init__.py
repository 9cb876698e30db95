"""Weights and choices of words that belong to the model itself: one file a method."""
