"""The spans of a self-explaining model: their weights, and the model's answer when it reads one of them alone."""
