"""How texts are read as a model weighs them, whatever it weighs: units, or spans."""

from collections.abc import Sequence

import numpy as np
import torch

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example
from pellucid.core.text.units import Spans, coarsen
from pellucid.evaluation.shared.weighed_texts import (
    WeighedRow,
    WeighedText,
    check_sum,
    unit_rows,
    weighed_texts,
)
from pellucid.models.span_analysis.span_states import span_states


def check_weights(model: Model) -> None:
    """Raise `ModelCannot` for a model without weights that a test could change, or with several labels a text."""
    if not {"unit_weights", "span_weights"} & model.capabilities:
        raise ModelCannot(
            f"{model.name} has no weights that its answer is a sum by, so there is nothing to test; models trained with "
            "pooler='additive', 'dot' or 'span' have them. Judge the methods that explain it with compare."
        )
    if model.problem != "single_label":
        raise ModelCannot(
            f"{model.name} can give a text several labels; tests of attention judge one answer a text. Give a single-label model."
        )


def weigh(model: Model, examples: Sequence[Example]) -> list[WeighedText]:
    """The texts with the model's weights, in their order; one forward pass a text, or a window of one."""
    return weighed_texts(model, examples, unit_rows if "unit_weights" in model.capabilities else span_rows)


def span_rows(model: Model, batch: Batch) -> list[WeighedRow]:
    """The rows of a model that weighs spans."""
    return [_span_row(model, batch, number) for number in range(len(batch))]


def _span_row(model: Model, batch: Batch, number: int) -> WeighedRow:
    states = span_states(model, batch.rows[number])
    parts = coarsen(batch.units[number], states.unit, batch.examples[number].segments)[0]  # type: ignore[arg-type]
    first, last = states.weighed.nonzero(as_tuple=True)
    rows = list(states.some_at_a_time(first, last))
    content = np.array(parts.content, dtype=np.int64)
    row = WeighedRow(
        torch.cat([weights for weights, _, _ in rows]),
        torch.cat([states.own_logits(vectors) for _, vectors, _ in rows]),
        torch.cat([vectors.float() for _, vectors, _ in rows]),
        Spans(parts, content[first.numpy()], content[last.numpy()]),
    )
    check_sum(model, row, states.own_logits(states.pooled[None])[0])
    return row
