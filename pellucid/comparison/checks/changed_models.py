"""Checks on changed models: do explanations change where the model does, and stay where it stays?"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Literal, get_args

import numpy as np

from pellucid.base.checks import between, one_of, whole
from pellucid.base.kinds import checks
from pellucid.comparison.check_case import (
    DEAD_SHARE,
    PART_RANDOMISED_TAU,
    RANDOMISED_TAU,
    SHIFT_CHANGE,
    CheckCase,
    Findings,
    judged_lines,
)
from pellucid.comparison.scored_text import TAU, ScoredText, alike, taus
from pellucid.results.interval import CheckLine, Curve, Interval
from pellucid.run.blank import derived_seed
from pellucid.text.example import Example

Order = Literal["cascading", "independent"]
MOST_LEVELS, MOST_TEXTS = 1000, 1_000_000
Lines = dict[str, list[CheckLine]]


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the methods on n_texts texts, n_levels times",
    asks="whether it changes when the model's weights are random",
    rule="passes where, all weights being random, tau is below .5; of parts alone, where no part leaves it at .9 or "
    "above",
    again="n_levels",
    curve_axis="share of the network that is random, from the head down",
)
def weight_randomisation(
    case: CheckCase, *, order: Order = "cascading", n_levels: int = 3, n_texts: int = 20
) -> Findings:
    """Kendall's tau between explanations of the model and of the model with weights in random order; 1 where a method
    ignores them.

    Does an explanation notice that what the model has learnt is gone?

    Source: Adebayo et al. (2018), "Sanity Checks for Saliency Maps", section 3: weights are randomised
    from the head down (cascading), or in one part after the other (independent). They compare maps by
    Spearman's correlation; ours is Kendall's tau, as everywhere here. What is explained stays the class
    that the trained model answered.

    order: "cascading" randomises from the head down, at last everything; "independent" one part at a time. n_levels:
    how many parts the network is cut into: the head, blocks and word vectors, as evenly as possible. n_texts: the first
    texts alone, since every level explains them again.
    """
    one_of("order", order, get_args(Order))
    whole("n_levels", n_levels, 1, MOST_LEVELS)
    whole("n_texts", n_texts, 1, MOST_TEXTS)
    some = case.first(n_texts)
    lines: Lines = {method: [] for method in case.methods}
    for level in range(1, n_levels + 1):
        first = (level - 1) / n_levels if order == "independent" else 0.0
        model = case.changes.with_random_weights(case.model, first, level / n_levels, case.request.seed)
        explained = some.explain(model, classes=some.classes_explained())
        for method in case.methods:
            values = taus(some.explained[method], explained[method])
            lines[method].append(some.intervals.line(method, TAU, values, f"part {level} of {n_levels}"))
    return _cascade(lines) if order == "cascading" else _parts(lines)


def _cascade(lines: Lines) -> Findings:
    """The agreement once all weights are random, and the curve down to there."""
    last = [of_method[-1] for of_method in lines.values()]
    whole_network = [CheckLine(line.method, TAU, line.value, line.n) for line in last]
    start = Interval(1.0, 1.0, 1.0)  # with the same weights the explanation is the same
    curves = [curve_of(method, [start, *(line.value for line in of_method)], 0) for method, of_method in lines.items()]
    return Findings(judged_lines(whole_network, below=RANDOMISED_TAU), curves)


def _parts(lines: Lines) -> Findings:
    every = [line for of_method in lines.values() for line in of_method]
    curves = [curve_of(method, [line.value for line in of_method], 1) for method, of_method in lines.items()]
    return Findings(judged_lines(every, below=PART_RANDOMISED_TAU), curves)


def curve_of(method: str, values: list[Interval], first: int) -> Curve:
    """A curve over levels, the last one at 1; first: the number of its first level."""
    last = len(values) - 1 + first
    grid = tuple((first + index) / last for index in range(len(values)))
    bounds = ([getattr(value, end) for value in values] for end in ("mean", "low", "high"))
    return Curve(method, "weight_randomisation", grid, *map(tuple, bounds))


@checks.add(
    needs=frozenset({"trainer", "explainer"}),
    cost="one training by the model's recipe, and the methods on n_texts texts",
    asks="whether it changes for a model that was trained on random labels",
    long=True,
    rule="passes where tau is below .5",
)
def label_randomisation(case: CheckCase, *, n_texts: int = 100) -> Findings:
    """Kendall's tau between explanations of the model and of one that was trained on random labels; 1 where a method
    ignores them.

    Does an explanation notice that the model learnt nothing but noise?

    Source: Adebayo et al. (2018), "Sanity Checks for Saliency Maps", section 4: a model of the same
    kind is trained on texts whose labels are in random order. What is explained stays the class that
    the judged model answered.

    n_texts: the first texts alone.
    """
    whole("n_texts", n_texts, 1, MOST_TEXTS)
    assert case.trained is not None  # it declares the need
    some = case.first(n_texts)
    model = case.trained(with_random_labels(case.train, case.request.seed), "random_labels")
    explained = some.explain(model, classes=some.classes_explained())
    lines = [
        some.intervals.line(method, TAU, taus(some.explained[method], explained[method])) for method in some.methods
    ]
    return Findings(judged_lines(lines, below=RANDOMISED_TAU))


def with_random_labels(examples: Sequence[Example], seed: int) -> list[Example]:
    """The examples with their labels in random order, without marks; each class is as frequent as before."""
    generator = np.random.default_rng(derived_seed(seed, "random labels", len(examples)))
    order = generator.permutation(len(examples)).tolist()
    return [
        replace(example, label=examples[place].label, rationales=())
        for example, place in zip(examples, order, strict=True)
    ]


CHANGE = "change of the scores"


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the methods on every text once more",
    again=1,
    rule="passes where the scores change by less than a twentieth of their size",
    asks="whether it stays when the words' vectors are shifted and every answer stays",
)
def input_shift(case: CheckCase, *, size: float = 1.0) -> Findings:
    """How far scores move when all word vectors are shifted by one vector and the network takes the shift back, so that
    it answers the same.

    Does an explanation stay the same when word vectors are shifted and the network takes the shift
    back?

    Source: Kindermans et al. (2019), "The (Un)reliability of Saliency Methods", sections 2 and 3: input
    invariance. Gradient x input fails by design, since it multiplies by the vectors; integrated
    gradients pass if their baseline is shifted too.

    0 for no change, 1 for a change as large as the scores. size: of the shift, in deviations of the word vectors.
    Scores that do not read vectors pass, random ones among them.
    """
    between("size", size, 0.001, 1000)
    shifted = case.changes.with_shifted_vectors(case.model, size, case.request.seed)
    explained = case.explain(shifted, classes=case.classes_explained())
    lines = [
        case.intervals.line(method, CHANGE, changes(case.explained[method], explained[method]))
        for method in case.methods
    ]
    return Findings(judged_lines(lines, below=SHIFT_CHANGE))


def changes(ones: Sequence[ScoredText], others: Sequence[ScoredText]) -> list[float]:
    """For each text the sum of the differences' sizes, divided by the sum of the scores' sizes; nan where all scores
    are 0.
    """
    values = []
    for before, after in zip(ones, others, strict=True):
        total = float(np.abs(before.scores).sum())
        is_judged = total > 0 and alike(before, after)
        values.append(float(np.abs(before.scores - after.scores).sum()) / total if is_judged else float("nan"))
    return values


OWN_WEIGHTS = {
    "span_weights",
    "unit_weights",
    "rationale",
}  # of a method that reads what the model weighs or chooses
DEAD_WEIGHT = "weight of the dead word"


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the methods on every text once more",
    again=1,
    rule="passes where the dead word weighs less than half of an average word",
    asks="whether it gives weight to a word that the model cannot read",
)
def dead_token(case: CheckCase) -> Findings:
    """The weight that a method gives a word which the model cannot read: 0 for none, 1 for that of an average word.

    Does a word that the model cannot read get a score?

    Source: The axiom "dummy" of Sundararajan, Taly & Yan (2017), section 2.1, and Friedman (2004): what
    a function does not depend on gets nothing. A word is put in front of every text and hidden from the
    model, so its true score is 0 exactly.

    It is the word's share of all sizes of scores, times the number of words.
    """
    blind, texts = case.changes.without_first_word(case.model, case.examples)
    of_own_weights = [method for method in case.methods if OWN_WEIGHTS & case.needs(method)]
    others = [method for method in case.methods if method not in of_own_weights]
    explained = case.explain(blind, texts, methods=others)
    lines = [
        case.intervals.line(method, DEAD_WEIGHT, [weight_of_first(text) for text in explained[method]])
        for method in others
    ]
    notes = [
        f"{method} is left out: it is the model's own weights, which a hidden word does not have."
        for method in of_own_weights
    ]
    return Findings(judged_lines(lines, below=DEAD_SHARE), notes=notes)


def weight_of_first(text: ScoredText) -> float:
    """The first word's share of the sizes, times the number of words, meant over draws; nan where nothing else is
    scored.
    """
    sizes = np.abs(text.draws)
    totals = sizes.sum(1)
    if len(text.scores) < 2 or not totals.all():
        return float("nan")
    return float((sizes[:, 0] / totals).mean() * len(text.scores))
