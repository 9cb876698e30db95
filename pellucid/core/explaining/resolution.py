"""The resolution of scores: the size below which a score may be nothing but rounding."""

from collections.abc import Iterator

import numpy as np
import torch

from pellucid.core.foundation.catalogue import Entry
from pellucid.core.foundation.readable_numbers import number
from pellucid.core.passes.rounding import Rounding

NOTABLE = 0.01  # of the largest score: a finer resolution is no news


def score_resolution(entry: Entry, rounding: Rounding, of_value: float, scores: np.ndarray) -> float:
    """The resolution of a method's scores [*rows, unit], in their unit; 0 for random scores, which are exact.

    of_value: what rounding may change of the difference of two explained values. A method that edits texts subtracts such values.
    What others compute from gradients, states or weights is rounded in proportion to the largest score of the text; of several rows,
    the row with the smallest.
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


def caveats_on_rounding(scores: np.ndarray, resolution: float, dtype: torch.dtype) -> Iterator[str]:
    """Says where scores of a text are rounding, if the largest is not far above that."""
    sizes = np.abs(scores)
    if resolution >= NOTABLE * sizes.max(initial=0.0) and ((sizes > 0) & (sizes < resolution)).any():
        name = str(dtype).removeprefix("torch.")
        yield f"Scores below {number(resolution)} are rounding here: the model computes in {name}."
