"""Figure 2 of Guan et al. (2019)."""
