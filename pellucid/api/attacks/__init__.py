"""The doors of attacks."""
