"""What differs between families of models: structure, special tokens, attention."""
