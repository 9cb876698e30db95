"""From examples and methods to explanations."""
