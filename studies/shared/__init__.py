"""What several studies use."""
