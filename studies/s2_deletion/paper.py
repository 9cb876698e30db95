"""Accuracy while words are taken out, as the paper's plotting notebook has it: figure 1 in numbers."""

from collections.abc import Mapping

WORD_COUNTS = (1, 5, 10)
# Data set -> method -> share of right answers without 1, 5 and 10 words.
FIGURE_1: Mapping[str, Mapping[str, tuple[float, float, float]]] = {
    "sst5": {
        "chance": (0.93, 0.61, 0.39),
        "GS": (0.72, 0.38, 0.24),
        "GI": (0.71, 0.39, 0.23),
        "LRP": (0.72, 0.38, 0.25),
        "LAT": (0.96, 0.66, 0.35),
    },
    "semeval": {
        "chance": (0.96, 0.85, 0.66),
        "GS": (0.83, 0.63, 0.51),
        "GI": (0.84, 0.64, 0.51),
        "LRP": (0.84, 0.61, 0.50),
        "LAT": (0.97, 0.86, 0.63),
    },
    "imdb": {
        "chance": (0.99, 0.99, 0.95),
        "GS": (0.97, 0.92, 0.87),
        "GI": (0.97, 0.92, 0.87),
        "LRP": (0.96, 0.90, 0.87),
        "LAT": (0.99, 0.98, 0.94),
    },
    "yelp5": {
        "chance": (0.98, 0.92, 0.83),
        "GS": (0.87, 0.75, 0.64),
        "GI": (0.88, 0.75, 0.66),
        "LRP": (0.91, 0.78, 0.68),
        "LAT": (0.99, 0.92, 0.83),
    },
}
