"""Doors of translators: training one, and translating."""
