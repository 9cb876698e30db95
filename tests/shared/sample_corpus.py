"""A corpus of written-down explanations: answers that are sure or not, right, wrong or without a label."""

import numpy as np

from pellucid.results.results import Results
from tests.shared.sample_results import sample_explanation

NOUNS = ("film", "book", "hotel", "soup", "train")


def sample_corpus(n=12, method="occlusion", seconds=83.4, **changes):
    """n texts: every third is wrong, every fifth has a label that the model does not know.

    "fine" and "The" speak for positive, "dull" speaks against it, by a little more from text to text.
    """
    rng = np.random.default_rng(0)
    return Results(tuple(_explanation(number, method, rng, changes) for number in range(n)), seconds)


def _explanation(number, method, rng, changes):
    text = f"The {NOUNS[number % 5]} number {number} is fine not dull"
    label = "mixed" if number % 5 == 4 else "negative" if number % 3 == 0 else "positive"
    scores = rng.normal(size=len(text.split()) + 2) * 0.05
    scores[[1, 6, 8]] = (0.2 + number / 100, 1 + number / 100, -1 - number / 100)
    sure = 0.5 + (number + 1) / 40 % 0.5
    parts = {"label": label, "id": f"t{number}", "scores": scores, "probabilities": (1 - sure, sure)}
    return sample_explanation(text, method, **{**parts, **changes})
