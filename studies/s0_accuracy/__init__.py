"""Table 1 and figure 2 of Sun et al. (2020)."""
