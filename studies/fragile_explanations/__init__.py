"""How far the highest words of an explanation move under one synonym, while the model answers the same."""
