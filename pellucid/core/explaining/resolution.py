"""The resolution of scores: the size below which a score may be nothing but rounding."""

from dataclasses import replace

import numpy as np

from pellucid.core.foundation.catalogue import Entry
from pellucid.core.foundation.readable_numbers import number
from pellucid.core.passes.precision import SHORT
from pellucid.core.passes.rounding import Rounding
from pellucid.core.results.explanation import Explanation

NOTHING = "All scores are 0: the method found nothing that the target depends on."
SURE = ("probability", "loss")  # of a sure answer they are too near to 1 or 0 for small changes to be seen
NOTABLE = 0.01  # of the largest score: a finer resolution is no news


def score_resolution(entry: Entry, rounding: Rounding, of_value: float, scores: np.ndarray) -> float:
    """The resolution of a method's scores [*rows, unit], in their unit; 0 for random scores, which are exact.

    of_value: what rounding may change of the difference of two explained values. A method that edits texts subtracts such values.
    What others compute from gradients, states or weights is rounded in proportion to the largest score; of several rows, in the row
    where that is smallest. scores: of the text's units; those of special tokens may be far larger.
    """
    facts = entry.facts
    if facts["floor"]:
        return 0.0
    if facts["of_class"] and not facts["needs"]:
        limit = of_value
    else:
        largest = np.abs(scores).max(-1, initial=0.0)
        share = rounding.gradients if "gradient" in facts["needs"] else rounding.share
        limit = share * float(largest.min(initial=np.inf, where=largest > 0)) if largest.any() else 0.0
    return float(f"{limit:.2g}")  # more digits would differ from one machine to the next


def with_caveat_on_rounding(explanation: Explanation, rounding: Rounding) -> Explanation:
    """Says where scores of a text may be rounding, if the largest is not far above that; rounding: of the model."""
    limit, sizes = explanation.resolution, np.abs(explanation.scores[..., ~explanation.special])
    nothing = NOTHING in explanation.caveats
    if limit < NOTABLE * sizes.max(initial=0.0) or not (nothing or ((sizes > 0) & (sizes < limit)).any()):
        return explanation
    name = rounding.type_name
    rest = tuple(caveat for caveat in explanation.caveats if caveat != NOTHING)
    if not nothing:
        caveat = f"Scores below {number(limit)} are rounding here: the model computes in {name}."
    elif rounding.dtype in SHORT or explanation.target.output in SURE:
        caveat = f"All scores are 0: what the target depends on is less than {number(limit)}, the rounding of {name} here."
    else:
        return explanation
    return replace(explanation, caveats=(*rest, caveat))
