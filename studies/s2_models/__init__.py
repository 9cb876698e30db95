"""Table 3 of Wu and Ong (2021): models of sentiment on four data sets."""
