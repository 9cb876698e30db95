"""Model folders and hub names, read safely."""
