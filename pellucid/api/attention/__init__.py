"""Doors to whether a model's weights explain it."""
