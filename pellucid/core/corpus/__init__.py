"""Many explanations at once: a list of results, its summary, the words of its classes, methods side by side."""
