"""Does an explanation notice that what the model has learnt is gone?

Adebayo et al. (2018), "Sanity Checks for Saliency Maps", section 3: weights are randomised from the head down (cascading), or in one
part after the other (independent). They compare maps by Spearman's correlation; ours is Kendall's tau, as everywhere here. What
is explained stays the class that the trained model answered.
"""

from typing import Literal, get_args

from pellucid.core.foundation.checks import one_of, whole
from pellucid.core.foundation.kinds import checks
from pellucid.core.results.check_outcome import CheckLine
from pellucid.core.results.interval import Curve, Interval
from pellucid.evaluation.checking.agreement import TAU, taus
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.findings import Findings, judged_lines
from pellucid.evaluation.checking.thresholds import PART_RANDOMISED_TAU, RANDOMISED_TAU

Order = Literal["cascading", "independent"]
MOST_LEVELS, MOST_TEXTS = 1000, 1_000_000
Lines = dict[str, list[CheckLine]]


@checks.add(
    needs=frozenset({"explainer"}),
    cost="the methods on n_texts texts, n_levels times",
    rule="passes where, all weights being random, tau is below .5; of parts alone, where no part leaves it at .9 or above",
    again="n_levels",
    curve_axis="share of the network that is random, from the head down",
)
def weight_randomisation(
    case: CheckCase, *, order: Order = "cascading", n_levels: int = 3, n_texts: int = 20
) -> Findings:
    """Kendall's tau between explanations of the model and of the model with weights in random order; 1 where a method ignores them.

    order: "cascading" randomises from the head down, at last everything; "independent" one part at a time. n_levels: how many parts
    the network is cut into: the head, blocks and word vectors, as evenly as possible. n_texts: the first texts alone, since every
    level explains them again.
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
    whole_network = [CheckLine(one.method, TAU, one.value, one.n) for one in last]
    start = Interval(1.0, 1.0, 1.0)  # with the same weights the explanation is the same
    curves = [
        curve_of(method, [start, *(line.value for line in of_method)], 0)
        for method, of_method in lines.items()
    ]
    return Findings(judged_lines(whole_network, below=RANDOMISED_TAU), curves)


def _parts(lines: Lines) -> Findings:
    every = [line for of_method in lines.values() for line in of_method]
    curves = [curve_of(method, [line.value for line in of_method], 1) for method, of_method in lines.items()]
    return Findings(judged_lines(every, below=PART_RANDOMISED_TAU), curves)


def curve_of(method: str, values: list[Interval], first: int) -> Curve:
    """A curve over levels, the last one at 1; first: the number of its first level."""
    last = len(values) - 1 + first
    grid = tuple((first + number) / last for number in range(len(values)))
    bounds = ([getattr(one, end) for one in values] for end in ("mean", "low", "high"))
    return Curve(method, "weight_randomisation", grid, *map(tuple, bounds))
