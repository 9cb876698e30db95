"""Decision flip: how much of a text must go, best-scored units first, until the model gives another class.

Serrano & Smith (2019), "Is Attention Interpretable?", section 5.1, who take out weights; here units of the text are taken out.
"""

from collections.abc import Mapping, Sequence

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.tied_units import mean_of_orders
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged

FIRST = (
    4  # units are taken out one more at a time up to so many, then twice as many ...: most texts flip early
)


@metrics.add(better="lower", lowest=0.0, highest=1.0, usual=False)
def decision_flip(case: Case, *, unit: Kind = "word", operator: Operator = "absent") -> Judged:
    """Share of a text's units that go, best-scored first, until its predicted class changes; 0 to 1, lower is better.

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
