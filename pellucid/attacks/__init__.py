"""How can a model be fooled? What edits of a text are made of."""
