"""What objectives about a model's evidence share: spans drawn by their weights, distances of answers, people's
marks.
"""
