"""How reports draw the difference between two versions of a model."""
