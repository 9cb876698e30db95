"""A self-explaining model's spans: their weights, and what the model answers when one is read alone."""
