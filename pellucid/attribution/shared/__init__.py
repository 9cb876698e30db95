"""What several attribution methods share."""
