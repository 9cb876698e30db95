"""Metrics of many edits of a text: curves from the whole text to none of it, and how well scores foretell what edits
do.
"""

from typing import get_args

import numpy as np

from pellucid.base.checks import at_least, one_of
from pellucid.base.kinds import metrics
from pellucid.comparison.case import Case, Judged, Reference
from pellucid.comparison.removed_words import area, random_edits, still_right
from pellucid.run.batch import Operator
from pellucid.text.ranges import mean_of_orders
from pellucid.text.units import Kind


@metrics.add(
    better="lower",
    lowest=0.0,
    highest=1.0,
    of_classes=True,
    column=1,
    curve_axis="share of the text hidden, highest scores first",
    curve_reading="a good method’s line falls early",
)
def hiding(
    case: Case,
    *,
    unit: Kind = "word",
    operator: Operator = "absent",
    steps: int = 20,
    reference: Reference = "gold",
) -> Judged:
    """Area under the share of right answers while the best-scored units are hidden; 0 to 1, lower is better.

    How soon the model loses its class when the best-scored units are hidden first.

    Source: "Decoding Layer Saliency in Transformers", appendix A.1. Its main text hides the least
    important first, which contradicts the appendix and its results (corrections.md A1.5).

    steps: the curve has steps + 1 points from nothing to everything hidden. reference: the class that counts
    as right, the "gold" label or the model's own "prediction" for the whole text. operator: how units are
    hidden.
    """
    best_first = case.orders(unit)
    return area(still_right(case, best_first, unit=unit, operator=operator, steps=steps, reference=reference))


@metrics.add(
    better="higher",
    lowest=0.0,
    highest=1.0,
    of_classes=True,
    column=2,
    curve_axis="share of the text shown, highest scores first",
    curve_reading="a good method’s line rises early",
)
def revealing(
    case: Case,
    *,
    unit: Kind = "word",
    operator: Operator = "absent",
    steps: int = 20,
    reference: Reference = "gold",
) -> Judged:
    """Area under the share of right answers while the best-scored units are shown; 0 to 1, higher is better.

    How soon the model finds its class when the best-scored units are shown first.

    Source: "Decoding Layer Saliency in Transformers", appendix A.1; grid and rounding are
    corrections.md A1.17.

    steps: the curve has steps + 1 points from nothing to everything shown. reference: the class that counts
    as right, the "gold" label or the model's own "prediction" for the whole text. operator: how the rest is
    hidden.
    """
    # Showing the best first is hiding the worst first, with the curve read backwards.
    worst_first = [[order[::-1] for order in orders] for orders in case.orders(unit)]
    hidden = still_right(case, worst_first, unit=unit, operator=operator, steps=steps, reference=reference)
    return area(hidden[:, ::-1])


@metrics.add(
    better="lower",
    lowest=0.0,
    highest=1.0,
    of_classes=True,
    usual=False,
    curve_axis="units taken out, highest scores first",
    curve_reading="a good method’s line falls early",
)
def deletion(
    case: Case,
    *,
    most: int = 10,
    unit: Kind = "word",
    operator: Operator = "delete",
    reference: Reference = "prediction",
) -> Judged:
    """Share of 1 to `most` taken-out units at which the answer is still right; 0 to 1, lower is better.

    How many right answers stay while the k best-scored words are taken out.

    Source: Wu & Ong (2021), "On Explaining Your Explanations of BERT", section 4.1, Figure 1.

    most: units taken out at most; texts with no more units than that are not judged, since nothing of them would stay.
    reference: what is right, the label ("gold", where texts that the model answers wrongly at first are not judged) or
    the model's own "prediction" for the whole text. operator: "pad" is what the paper's code does (corrections.md
    A2.9).
    """
    at_least("most", most, 1)
    one_of("reference", reference, get_args(Reference))
    wanted, orders = case.classes(reference), case.orders(unit)
    variants = [  # of a text that is not judged the whole text alone
        [
            case.without(example, order[:count], unit, operator)
            for order in of_example
            for count in range(most + 1 if len(order) > most else 1)
        ]
        for example, of_example in enumerate(orders)
    ]
    judged = zip(case.predictions(variants), wanted, orders, strict=True)
    curve = np.array(
        [
            _right(classes, label, most + 1) if len(of_example[0]) > most else np.full(most + 1, np.nan)
            for classes, label, of_example in judged
        ]
    )
    return Judged(curve[:, 1:].mean(1)[:, None], curve=curve, grid=np.arange(most + 1, dtype=float))


def _right(classes: np.ndarray, label: int, points: int) -> np.ndarray:
    """[point]: whether the answer is right, the mean over orders; nan for a text whose answer is wrong at first.

    classes: [order point], flat.
    """
    if classes[0] != label:
        return np.full(points, np.nan)
    return mean_of_orders((classes == label).astype(float).reshape(-1, points))


LEAST = 1e-9  # standard deviations of falls and of sums below this are rounding


@metrics.add(better="higher", lowest=-1.0, highest=1.0, usual=False)
def sensitivity_n(
    case: Case, *, n_edits: int = 50, unit: Kind = "word", operator: Operator = "absent", seed: int = 0
) -> Judged:
    """Pearson correlation of the taken-out units' summed scores with the fall of the answer; -1 to 1, higher is better.

    Whether sets of units with larger scores make the answer fall further.

    Source: Ancona et al. (2018), "Towards Better Understanding of Gradient-based Attribution Methods
    for Deep Neural Networks", section 3.2.

    n_edits: random sets a text, of all sizes, the same for every method; the paper correlates sets of one size n, which
    on a text of ten words leaves few. Scores that are all equal within each size correlate only by the size. 0 where
    the sums do not vary; texts whose answer does not vary are not judged.
    """
    edits = random_edits(case, "infidelity", n_edits, unit=unit, operator=operator, seed=seed)
    return Judged(
        np.array(
            [
                [_correlation(edit.removed @ scores, edit.falls)]
                for edit, scores in zip(edits, case.scores(unit), strict=True)
            ]
        )
    )


def _correlation(sums: np.ndarray, falls: np.ndarray) -> float:
    """Of sums and falls [edit]."""
    if len(falls) < 2 or falls.std() < LEAST:
        return np.nan
    if sums.std() < LEAST * max(1.0, float(np.abs(sums).max())):
        return 0.0
    return float(np.clip(np.corrcoef(sums, falls)[0, 1], -1, 1))


@metrics.add(better="lower", lowest=0.0, highest=1.0, usual=False)
def infidelity(
    case: Case, *, n_edits: int = 50, unit: Kind = "word", operator: Operator = "absent", seed: int = 0
) -> Judged:
    """Share of the falls' mean square that scores, scaled at their best, do not predict; 0 to 1, lower is better.

    How badly the sum of the taken-out units' scores predicts the fall of the answer.

    Source: Yeh et al. (2019), "On the (In)fidelity and Sensitivity of Explanations", definition 2.1,
    with sets of units as perturbations.

    For each text min over b >= 0 of E[(b sum of scores - fall)^2] / E[fall^2] over random sets of units. The paper has
    neither b nor the division: methods give scores in different units, and texts differ in how far their answers fall.
    b is not negative, so that scores of the wrong sign gain nothing. n_edits: sets a text, the same for every method.
    Texts of one unit, and those whose answer no set moves, are not judged.
    """
    edits = random_edits(case, "infidelity", n_edits, unit=unit, operator=operator, seed=seed)
    return Judged(
        np.array(
            [[_share(edit.removed @ scores, edit.falls)] for edit, scores in zip(edits, case.scores(unit), strict=True)]
        )
    )


def _share(sums: np.ndarray, falls: np.ndarray) -> float:
    """The unpredicted share; sums, falls: [edit]."""
    total = float(falls @ falls)
    if not len(falls) or total < 1e-18:
        return np.nan
    squares, product = float(sums @ sums), float(sums @ falls)
    scale = max(0.0, product / squares) if squares > 0 else 0.0
    error = scale * sums - falls
    return min(1.0, float(error @ error) / total)
