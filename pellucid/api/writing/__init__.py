"""Doors of models that write."""
