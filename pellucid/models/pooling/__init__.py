"""What the poolers share."""
