"""Commands that attack models, and that read what people judged of the texts that fooled them."""
