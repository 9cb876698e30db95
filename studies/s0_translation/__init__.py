"""Table 2 of Sun et al. (2020): a translator with spans of its source, and its plain twin."""
