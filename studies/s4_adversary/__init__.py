"""Figure 1 of Tutek & Šnajder (2020): a new model that answers alike with weights that lie elsewhere."""
