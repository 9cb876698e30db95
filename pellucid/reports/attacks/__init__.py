"""Attempts of attacks, drawn."""
