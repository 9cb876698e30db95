"""Tables 5 and 6 of Sun et al. (2020)."""
