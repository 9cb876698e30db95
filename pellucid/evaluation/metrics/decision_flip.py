"""Decision flip: how much of a text must go, best-scored units first, until the model gives another class.

Serrano & Smith (2019), "Is Attention Interpretable?", section 5.1, who take out weights; here units of the text are taken out.
"""

import numpy as np

from pellucid.core.foundation.kinds import metrics
from pellucid.core.passes.batch import Operator
from pellucid.core.text.units import Kind
from pellucid.evaluation.shared.case import Case, Judged


@metrics.add(better="lower", lowest=0.0, highest=1.0, usual=False)
def decision_flip(case: Case, *, unit: Kind = "word", operator: Operator = "absent") -> Judged:
    """Share of a text's units that go, best-scored first, until its predicted class changes; 0 to 1, lower is better.

    1 where the class never changes. Fewest units: one. operator: how units are taken out.
    """
    variants = [
        [case.without(example, order[:count], unit, operator) for count in range(1, len(order) + 1)]
        for example, order in enumerate(case.orders(unit))
    ]
    judged = zip(case.predictions(variants), case.classes("prediction"), strict=True)
    return Judged(np.array([[_share(classes != label)] for classes, label in judged]))


def _share(changed: np.ndarray) -> float:
    """[count] bool: whether the class is another one after 1, 2 ... units -> the share of units at the first change."""
    return float((changed.argmax() + 1) / len(changed)) if changed.any() else 1.0
