"""From examples and a method to explanations: one text through the system."""
