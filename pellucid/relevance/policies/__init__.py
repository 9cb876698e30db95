"""How relevance goes back through each kind of function: one policy a file, found by the catalogue."""
