"""Folders that commands make: what is in them, and how damage to them is seen and mended."""
