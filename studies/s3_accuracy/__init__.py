"""Table 2 of Guan et al. (2019): four kinds of models on three data sets."""
