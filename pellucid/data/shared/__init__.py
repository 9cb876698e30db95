"""What several formats and data sets share."""
