"""One text unit by unit, for a plot: what the model would answer by the state of each unit alone.

Tutek & Šnajder (2020), "Staying True to Your Word", section 5.3 and figures 2 to 7.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from pellucid.core.text.example import Example
from pellucid.core.text.units import Spans
from pellucid.evaluation.shared.weighed_texts import WeighedText

MOST_UNITS = 60  # of a plot: more cannot be read


def plotted(text: WeighedText, example: Example, classes: Sequence[str]) -> dict[str, Any]:
    """The fields of `UnitPlot`; of spans those of one part alone, with each part's share of all weights.

    Of a long text the first units; in windows a unit has the mean of its places.
    """
    units, numbers = text.units, text.numbers
    assert units is not None and numbers is not None  # it was read from a model
    weights = np.zeros(len(units))
    np.add.at(weights, numbers, text.weights.numpy())
    if isinstance(units, Spans):
        parts, of_unit = units.parts, np.where(units.first == units.last, units.first, -1)
        weights = units.share(weights)
    else:
        parts, of_unit = units, np.arange(len(units))
    probabilities = text.unit_logits.softmax(-1).numpy()
    sums, places = np.zeros((len(parts), len(classes))), np.zeros(len(parts))
    shown = of_unit[numbers] >= 0
    np.add.at(sums, of_unit[numbers][shown], probabilities[shown])
    np.add.at(places, of_unit[numbers][shown], 1)
    drawn = [part for part in parts.content if places[part]][:MOST_UNITS]
    return {
        "text": str(example.id),
        "words": [parts.labels[part] for part in drawn],
        "weights": [min(1.0, float(weights[part])) for part in drawn],
        "probabilities": [(sums[part] / places[part]).tolist() for part in drawn],
        "own": text.logits(text.weights[None])[0].softmax(-1).tolist(),
        "classes": list(classes),
    }
