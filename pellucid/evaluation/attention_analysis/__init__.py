"""The analysis of a model's weights: its question, the folder that keeps its work, and the verdict."""
