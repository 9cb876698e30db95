"""What each layer holds of every word: Figures 3, 5, 6 and 7 and table 1 of Guan et al. (2019)."""
