"""Language heads: what reads hidden states as words."""
