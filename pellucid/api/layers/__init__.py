"""Doors to what the layers of a model know."""
