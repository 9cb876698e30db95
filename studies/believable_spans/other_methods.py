"""Post-hoc methods on the same model: their best words, as many as the spans have, and how they agree with what people
marked.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pellucid.evidence.eraser_scores import example_columns
from pellucid.explaining.explain import explain_all
from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.explanation import Explanation
from pellucid.results.table import CHANCE
from pellucid.text.example import Example
from studies.believable_spans.evidence import answers, falls
from studies.s0_eraser.cuts import cut_by_scores, lengths_of
from studies.shared.units import Numbers
from studies.which_explanation.methods import METHODS, short_name

INTEGRATED_GRADIENTS = "integrated_gradients"  # beside it stands how alike the spans of two trainings are
FEW_METHODS = ("gradient", ("integrated_gradients", {"n_steps": 2}), (CHANCE, {"n_draws": 1}))
CUTS = ("budget", "words")  # one span of the texts' usual length, and as many of the best words


def explained(model: Classifier, examples: Sequence[Example], few: bool) -> Mapping[str, list[Explanation]]:
    """Method -> the explanations of the texts; of several random draws the first."""
    by_title = explain_all(model, examples, list(FEW_METHODS if few else METHODS), progress=False)
    return {short_name(title): list(map(_one_draw, of_method)) for title, of_method in by_title.items()}


def _one_draw(explanation: Explanation) -> Explanation:
    return explanation.row(explanation.rows[0][1][0]) if explanation.rows else explanation


def best_words(explanation: Explanation, count: int) -> list[int]:
    """The numbers of so many words with the highest scores, in order; of equal ones the first."""
    view = explanation.view("word")
    scores = np.array(view.scores, dtype=np.float64)[~view.special]
    return sorted(np.argsort(-scores, kind="stable")[:count].tolist())


def method_numbers(
    model: Classifier,
    examples: Sequence[Example],
    by_method: Mapping[str, Sequence[Explanation]],
    words: Sequence[Sequence[int]],
) -> Numbers:
    """Method -> what its best words do, text by text. words: of the spans, whose number each method gets."""
    batch, numbers = model.encode(examples), {}
    whole = answers(model, batch.rows)
    for name, explanations in by_method.items():
        best = [best_words(one, len(own)) for one, own in zip(explanations, words, strict=True)]
        of_method = falls(model, batch, best, whole)
        numbers[name] = {
            "words": best,
            "agrees": of_method.agrees,
            "alone": [round(value, 5) for value in of_method.alone],
            "without": [round(value, 5) for value in of_method.without],
        }
    return numbers


def marks_numbers(examples: Sequence[Example], explanations: Sequence[Explanation], name: str, share: float) -> Numbers:
    """cut -> [text column], the columns of ERASER's scores. share: of a text's words, at which every explanation of a
    corpus is cut.
    """
    lengths = lengths_of(examples, share)
    cuts = cut_by_scores(explanations, name, lengths, 0)
    return {cut: [[round(value, 4) for value in example_columns(one, 0.5)] for one in cuts[cut]] for cut in CUTS}
