"""A planted word, found by saliency of layers that is read back in words."""
