"""Words that a model writes, as targets: what of the text before them they depend on."""
