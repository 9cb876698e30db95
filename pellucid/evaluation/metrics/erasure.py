"""Metrics of erasure: what the answer loses without the words of highest scores, and what they keep of it alone."""

from collections.abc import Mapping, Sequence

import numpy as np

from pellucid.base.kinds import metrics
from pellucid.evaluation.shared.case import Case, Judged
from pellucid.evaluation.shared.removed_words import FRACTIONS, mean_fall
from pellucid.evaluation.shared.soft_erasure import mean_soft_fall
from pellucid.run.batch import Operator
from pellucid.text.tied_units import mean_of_orders
from pellucid.text.units import Kind


@metrics.add(better="higher", lowest=-1.0, highest=1.0, column=3, later={"normalised"})
def comprehensiveness(
    case: Case,
    *,
    fractions: Sequence[float] = FRACTIONS,
    unit: Kind = "word",
    operator: Operator = "absent",
    normalised: bool = False,
) -> Judged:
    """Fall of the explained class's probability without the best-scored units; -1 to 1, higher is better.

    How far the prediction falls once the best-scored units are removed.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section
    4.2. They delete tokens; our default makes them absent, so that the others keep their positions.

    fractions: shares of the text that are removed, rounded up, at least one unit each; the falls are
    averaged. operator: "delete" is the paper's. normalised: as a share of the fall without any unit (Carton et al. 2020), cut
    to 0 to 1; texts that lose nothing without any unit are not judged.
    """
    fall = mean_fall(
        case,
        lambda order, count: order[:count],
        fractions=fractions,
        unit=unit,
        operator=operator,
        normalised=normalised,
    )
    return Judged(fall[:, None])


@metrics.add(better="lower", lowest=-1.0, highest=1.0, column=4, later={"normalised"})
def sufficiency(
    case: Case,
    *,
    fractions: Sequence[float] = FRACTIONS,
    unit: Kind = "word",
    operator: Operator = "absent",
    normalised: bool = False,
) -> Judged:
    """Fall of the explained class's probability with the best-scored units alone; -1 to 1, lower is better.

    How far the prediction falls when only the best-scored units are kept.

    Source: DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section
    4.2. They delete tokens; our default makes them absent, so that the others keep their positions.

    fractions: shares of the text that are kept, rounded up, at least one unit each; the falls are averaged.
    operator: "delete" is the paper's. normalised: as a share of the fall without any unit (Carton et al. 2020), cut
    to 0 to 1; texts that lose nothing without any unit are not judged.
    """
    fall = mean_fall(
        case,
        lambda order, count: order[count:],
        fractions=fractions,
        unit=unit,
        operator=operator,
        normalised=normalised,
    )
    return Judged(fall[:, None])


@metrics.add(better="higher", lowest=-1.0, highest=1.0, usual=False, capabilities={"gradient"})
def soft_comprehensiveness(
    case: Case, *, n_draws: int = 5, unit: Kind = "word", normalised: bool = False, seed: int = 0
) -> Judged:
    """Fall of the explained class's probability when well-scored units lose most of their embeddings; -1 to 1, higher is better.

    How far the prediction falls when each word loses as much of its embedding as its score says.

    Source: Zhao & Aletras (2023), "Incorporating Attribution Importance for Improving Faithfulness
    Metrics", section 3.2.

    Each number of a unit's word embeddings is set to 0 with the unit's score as chance, after the scores of the text
    were brought to 0 to 1 (the lowest and the highest of them). The whole ranking counts, not only its top. n_draws: of which
    the falls are averaged; they are a text's own, the same for every method. normalised: as a share of the fall when all numbers
    are 0, cut to 0 to 1, which is the paper's; texts that lose nothing then are not judged.
    """
    fall = mean_soft_fall(
        case, lambda importance: 1 - importance, n_draws=n_draws, unit=unit, normalised=normalised, seed=seed
    )
    return Judged(fall[:, None])


@metrics.add(better="lower", lowest=-1.0, highest=1.0, usual=False, capabilities={"gradient"})
def soft_sufficiency(
    case: Case, *, n_draws: int = 5, unit: Kind = "word", normalised: bool = False, seed: int = 0
) -> Judged:
    """Fall of the explained class's probability when units keep what their scores say; -1 to 1, lower is better.

    How far the prediction falls when each word keeps as much of its embedding as its score says.

    Source: Zhao & Aletras (2023), "Incorporating Attribution Importance for Improving Faithfulness
    Metrics", section 3.2.

    Each number of a unit's word embeddings is kept with the unit's score as chance, after the scores of the text were
    brought to 0 to 1 (the lowest and the highest of them). n_draws: of which the falls are averaged; they are a text's own, the
    same for every method. normalised: as a share of the fall when all numbers are 0, cut to 0 to 1; the paper's value is 1 minus
    this one. Texts that lose nothing then are not judged.
    """
    fall = mean_soft_fall(
        case, lambda importance: importance, n_draws=n_draws, unit=unit, normalised=normalised, seed=seed
    )
    return Judged(fall[:, None])


FIRST = (
    4  # units are taken out one more at a time up to so many, then twice as many ...: most texts flip early
)


@metrics.add(better="lower", lowest=0.0, highest=1.0, usual=False)
def decision_flip(case: Case, *, unit: Kind = "word", operator: Operator = "absent") -> Judged:
    """Share of a text's units that go, best-scored first, until its predicted class changes; 0 to 1, lower is better.

    How much of a text must go, best-scored units first, until the model gives another class.

    Source: Serrano & Smith (2019), "Is Attention Interpretable?", section 5.1, who take out weights;
    here units of the text are taken out.

    1 where the class never changes. Fewest units: one. operator: how units are taken out.
    """
    orders = case.orders(unit)
    shares: list[list[float]] = [[] for _ in orders]
    for number in range(max(map(len, orders))):
        some = {one: of_example[number] for one, of_example in enumerate(orders) if number < len(of_example)}
        for one, share in _shares(case, some, unit, operator).items():
            shares[one].append(share)
    return Judged(np.array([[mean_of_orders(np.array(of_example))] for of_example in shares]))


def _shares(
    case: Case, orders: Mapping[int, Sequence[int]], unit: Kind, operator: Operator
) -> dict[int, float]:
    """For each of these examples, with one order of its units each, the share that goes."""
    labels, shares = case.classes("prediction"), dict.fromkeys(orders, 1.0)
    first, size, open_examples = 1, FIRST, list(orders)
    while open_examples:
        counts = {one: range(first, min(first + size, len(orders[one]) + 1)) for one in open_examples}
        variants = [
            [case.without(one, orders[one][:count], unit, operator) for count in counts.get(one, ())]
            or [case.batch.rows[one]]
            for one in range(len(case))
        ]
        predictions = case.predictions(variants)
        changes = {one: predictions[one] != labels[one] for one in open_examples if counts[one]}
        for one, changed in changes.items():
            if changed.any():
                shares[one] = float((first + changed.argmax()) / len(orders[one]))
        open_examples = [one for one, changed in changes.items() if not changed.any()]
        first, size = first + size, 2 * size
    return shares
