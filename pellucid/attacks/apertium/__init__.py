"""Apertium, a translator by rules that works offline: parts of speech, names, and translation there and back."""
