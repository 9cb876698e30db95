"""Cases on a tiny model with scores of our choosing."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache

import numpy as np

from pellucid.core.batch import Row
from pellucid.core.case import Case
from pellucid.core.example import Example, Rationale
from pellucid.core.explaining import Request, explain_batch, method_calls
from pellucid.core.explanation import Explanation
from pellucid.core.progress import silent
from pellucid.core.scheduler import Scheduler
from pellucid.core.target import Target, class_probabilities
from pellucid.models.classifier import Classifier
from tests.tiny import tiny_composed

LABELS = ("negative", "neutral", "positive")
TEXTS = (
    "The soup was warm, the waiter was kind and the bill was small.",
    "fine",
    ("The café was closed on Monday.", "Nobody could eat there, it seems."),
    "Slow, loud and far too hot: never again!",
    "A map that shows the way home, even at night.",
    "It works.",
)


@cache
def model() -> Classifier:
    """A mean-pooling model: what it predicts changes as words disappear."""
    return tiny_composed("mean", LABELS)


def examples(texts: Sequence = TEXTS) -> list[Example]:
    """Labelled examples: the labels go round."""
    segments = [(text,) if isinstance(text, str) else text for text in texts]
    return [Example(text, LABELS[number % 3], id=str(number)) for number, text in enumerate(segments)]


def explained(found: Sequence[Example], method: str = "gradient", target: str = "predicted") -> list[Explanation]:
    request = Request(model(), method_calls([method], model()), Target(target), 0)
    return explain_batch(request, model().encode(found), Scheduler(512), silent)[method]


def random_scores(words: Explanation, seed: int) -> np.ndarray:
    """[unit]: distinct scores of both signs, special tokens 0."""
    values = np.random.default_rng([seed, len(words.units)]).normal(size=len(words.units))
    return np.where(words.special, 0.0, values)


def case_with(found: Sequence[Example], scores: Sequence[np.ndarray] | int = 0, target: str = "predicted") -> Case:
    """A case whose explanations hold these scores [word] of the text's words, or random ones of this seed."""
    words = [explanation.words() for explanation in explained(found, target=target)]
    if isinstance(scores, int):
        values = [random_scores(view, scores) for view in words]
    else:
        values = [np.zeros(len(view.units)) for view in words]
        for row, view, given in zip(values, words, scores, strict=True):
            row[~view.special] = given
    held = [replace(view, scores=row) for view, row in zip(words, values, strict=True)]
    return Case(model(), model().encode(found), held, Scheduler(512))


def mark(example: Example, words: Sequence[int]) -> Example:
    """The example with these of its words marked, each by a mark of its own."""
    view = explained([example])[0].words()
    units, chosen = view.units, [view.units.content[word] for word in words]
    marks = [Rationale(units.segment[unit], units.start[unit], units.end[unit]) for unit in chosen]
    return replace(example, rationales=tuple(marks))


def answer(case: Case, example: int, gone: frozenset[int], operator: str = "absent") -> np.ndarray:
    """[class] probabilities of one edited text, run alone."""
    pieces = case.batch.pieces_of(example, "word")
    return _alone(case.batch.edited(example, [piece for word in gone for piece in pieces[word]], operator))


@cache
def _alone(row: Row) -> np.ndarray:
    return class_probabilities(model().trace([row]).logits.detach().double(), "single_label")[0].numpy()
