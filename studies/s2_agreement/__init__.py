"""Table 1 and figure 3 of Wu and Ong (2021): agreement of explanations across trainings and across data sets."""
