"""Copies of a classifier that are changed in a known way, so that checks can ask what an explanation makes of it."""
