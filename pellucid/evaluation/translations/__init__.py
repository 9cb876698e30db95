"""How good translations are, beside references."""
