"""Figure 1 of Wu and Ong (2021): right answers while words are taken out."""
