"""What `compare` gives checks: twins, texts to train on, changed models."""
