"""Table 3 of Sun et al. (2020)."""
