"""Numbers, names and sentences as reports show them."""
