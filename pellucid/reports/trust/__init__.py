"""The trust card, drawn."""
