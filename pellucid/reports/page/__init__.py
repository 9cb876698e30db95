"""The page and its sections."""
