"""Attacks by name: which order, candidates, guards and search they are made of, one file each."""
