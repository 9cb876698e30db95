"""The nouns every room speaks in: examples, units, batches, traces, targets, explanations."""
