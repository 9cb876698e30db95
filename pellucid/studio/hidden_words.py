"""What a model answers while words of a text are hidden: the most important first, the least important, or any.

All cuts of all methods are one packed batch when a text is explained, so that a reader who moves the slider waits for
nobody. They are the edits and the numbers of the metric `hiding`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch

from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.processes import Progress, silent
from pellucid.comparison.case import Case
from pellucid.comparison.removed_words import hidden_counts
from pellucid.results.explanation import Explanation
from pellucid.run.batch import OPERATORS_IN_WORDS, Operator
from pellucid.run.blank import generator_for
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.text.units import Spans

CUTS = 20  # steps from nothing to everything hidden, as in `hiding`
DRAWS = 10  # random orders
OPERATOR: Operator = "absent"
HOW = f"{OPERATORS_IN_WORDS[OPERATOR]} (operator “{OPERATOR}”)"
MOST_ALONE = 120  # words that are hidden one at a time: of more, those that the methods rank highest


@dataclass(frozen=True, eq=False)
class Hiding:
    """Words hidden one after the other. order: their numbers, the first hidden first. values: [cut class]."""

    order: tuple[int, ...]
    values: np.ndarray

    def flips_at(self, counts: Sequence[int]) -> int | None:
        """With how many hidden words the answer is another one for the first time; None where it stays."""
        answers = self.values.argmax(1)
        changed = np.flatnonzero(answers != answers[0])
        return counts[changed[0]] if len(changed) else None


@dataclass(frozen=True, eq=False)
class HiddenWords:
    """The cuts of one text. counts: [cut] how many words are hidden. explained: the class that is explained, by number.
    most, least: a method's title -> its words hidden from the most or the least important on. random: [draw]. alone: a
    word's number -> [class] the answer while it alone is hidden.
    """

    counts: tuple[int, ...]
    explained: int
    most: dict[str, Hiding]
    least: dict[str, Hiding]
    random: tuple[Hiding, ...]
    alone: dict[int, np.ndarray]

    @property
    def has_classes(self) -> bool:
        """Whether there are classes of which another can become the answer."""
        return self.random[0].values.shape[1] > 1

    def moved_most(self) -> list[int]:
        """The words that were hidden alone, first those after which the whole text's answer is least likely."""
        answer = self.random[0].values[0].argmax()
        return sorted(self.alone, key=lambda word: float(self.alone[word][answer]))

    def flips_alone(self, word: int) -> bool:
        """Whether the answer is another one once a word is hidden."""
        return bool(self.alone[word].argmax() != self.random[0].values[0].argmax())

    @property
    def chance(self) -> np.ndarray:
        """[draw cut]: the explained class's value while random words are hidden."""
        return np.array([draw.values[:, self.explained] for draw in self.random])


def rows_of_cuts(methods: int, words: int) -> int:
    """How many edited texts the cuts of a text are, at most."""
    return (2 * methods + DRAWS) * (min(CUTS, words) + 1) + min(words, MOST_ALONE)


def explained_class(explanation: Explanation) -> int:
    """The number of the class that is explained; 0 where there are no classes."""
    labels = explanation.prediction.labels
    return labels.index(explanation.target.label) if explanation.target.label in labels else 0


def hidden_words(model: Model, explanations: Sequence[Explanation], progress: Progress = silent) -> HiddenWords:
    """The cuts of a text by the explanations that score its words.

    Raises `ModelCannot` where none does, and what the model raises for edited texts.
    """
    cases = _cases(model, explanations, progress)
    orders = {title: case.orders("word")[0][0] for title, case in cases.items()}
    first, words = next(iter(cases.values())), len(next(iter(orders.values())))
    counts = hidden_counts(words, CUTS)
    draws = _draws(first, words, sorted(next(iter(orders.values()))))
    every = [*orders.values(), *(order[::-1] for order in orders.values()), *draws]
    singles = _ranked_highest(list(orders.values()))
    hidden = [*(order[:count] for order in every for count in counts), *([word] for word in singles)]
    (values,) = first.probabilities([[first.without(0, some, "word", OPERATOR) for some in hidden]])
    of_cuts = np.split(values[: len(hidden) - len(singles)], len(every))
    hidings = [Hiding(tuple(order), part) for order, part in zip(every, of_cuts, strict=True)]
    n_methods, alone = len(orders), dict(zip(singles, values[len(hidden) - len(singles) :], strict=True))
    most = dict(zip(orders, hidings, strict=False))
    least = dict(zip(orders, hidings[n_methods:], strict=False))
    return HiddenWords(tuple(counts), first.explained_classes()[0], most, least, tuple(hidings[2 * n_methods :]), alone)


def _ranked_highest(orders: Sequence[Sequence[int]]) -> list[int]:
    """The words that are hidden alone: those that any order has first."""
    return list(dict.fromkeys(word for of_rank in zip(*orders, strict=True) for word in of_rank))[:MOST_ALONE]


def without_words(
    model: Model, explanation: Explanation, words: Sequence[int], progress: Progress = silent
) -> np.ndarray:
    """[text class]: the model's answers to the whole text, and to the text with these words hidden."""
    (case,) = _cases(model, [explanation], progress).values()
    rows = [case.batch.rows[0], case.without(0, words, "word", OPERATOR)]
    return case.probabilities([rows])[0]


def _cases(model: Model, explanations: Sequence[Explanation], progress: Progress = silent) -> dict[str, Case]:
    """Method's title -> what judges its scores of the text; those that score no words are left out."""
    batch, scheduler = model.encode([explanations[0].example]), scheduler_for(model)
    scheduler.progress = progress
    cases = {}
    for explanation in explanations:
        case = Case(model, batch, [_of_whole_answer(explanation)], scheduler)
        try:
            if case.orders("word")[0][0]:
                cases[explanation.method] = case
        except BadSetting:
            continue
    if not cases:
        raise ModelCannot("No method of this page scores the words of the text, so none can be hidden in its order.")
    return cases


def _of_whole_answer(explanation: Explanation) -> Explanation:
    """Of a model that writes, the explanation of all that it wrote: log-probabilities of words add up to the text's."""
    if [kind for kind, _ in explanation.rows] != ["word"] or isinstance(explanation.units, Spans):
        return explanation
    return replace(explanation, scores=explanation.scores.sum(0), rows=(), row_diagnostics=(), row_caveats=())


def _draws(case: Case, count: int, words: Sequence[int]) -> list[list[int]]:
    """Random orders of the words, drawn from the text's content: the same for every method."""
    generator = generator_for(case.batch.rows[0], "studio", 0)
    return [[words[place] for place in torch.randperm(count, generator=generator)] for _ in range(DRAWS)]
