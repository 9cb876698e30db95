"""Table 4 of Sun et al. (2020)."""
