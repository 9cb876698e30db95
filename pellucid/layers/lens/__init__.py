"""A lens: a masked-language-model head on a frozen model, and a translator a layer."""
