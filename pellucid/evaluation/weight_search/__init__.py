"""Search for weights far from a model's own that leave its answer as it is."""
