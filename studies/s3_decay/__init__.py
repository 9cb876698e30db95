"""Figure 4 of Guan et al. (2019): what models of different weight penalties hold of each word."""
