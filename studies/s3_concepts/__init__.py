"""What each layer holds of one word besides its concept: Figure 8 of Guan et al. (2019)."""
