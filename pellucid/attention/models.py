"""The models of an attention analysis, by name."""

from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pellucid.attention.question import UserWeights
from pellucid.attention.weighed_texts import (
    WeighedRow,
    WeighedText,
    check_sum,
    unit_rows,
    weighed_texts,
)
from pellucid.base.checks import listed, listed_members, quoted
from pellucid.base.errors import BadFile, BadInput, ModelCannot
from pellucid.base.files import read_text
from pellucid.base.json_text import parsed
from pellucid.explaining.inputs.loading import distinct_names
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import ModelSource
from pellucid.models.analysed_spans import span_states
from pellucid.run.batch import Batch
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.text.units import Spans, coarsen


def models_with_weights(
    model: ModelSource, against: Sequence[ModelSource] | Mapping[str, ModelSource]
) -> dict[str, tuple[ModelSource, Model]]:
    """Name -> (what it was given as, the model), the one in question first; raises `ModelCannot` for one without
    weights, `BadInput` for other classes.
    """
    others = list(against.values()) if isinstance(against, Mapping) else _several(against)
    loaded = [model_from(one) for one in (model, *others)]
    for one in loaded:
        check_weights(one)
        if sorted(one.labels) != sorted(loaded[0].labels):
            raise BadInput(
                f"{one.name} has the classes {listed(one.labels)}, and {loaded[0].name} has "
                f"{listed(loaded[0].labels)}; compare models of the same classes."
            )
    if isinstance(against, Mapping):
        own = loaded[0].name
        names = [own if own not in against else f"{own} (1)", *map(str, against)]
    else:
        names = distinct_names(loaded)
    return dict(zip(names, zip((model, *others), loaded, strict=True), strict=True))


def _several(against: Any) -> list[ModelSource]:  # Any: a caller may give one model in place of a list
    return list(against) if isinstance(against, list | tuple) else [against]


# How texts are read as a model weighs them, whatever it weighs: units, or spans.


def check_weights(model: Model) -> None:
    """Raise `ModelCannot` for a model without weights that a test could change, or with several labels a text."""
    if not {"unit_weights", "span_weights"} & model.capabilities:
        raise ModelCannot(
            f"{model.name} has no weights that its answer is a sum by, so there is nothing to test; models trained "
            f"with pooler='additive', 'dot' or 'span' have them. Judge the methods that explain it with compare."
        )
    if model.problem != "single_label":
        raise ModelCannot(
            f"{model.name} can give a text several labels; tests of attention judge one answer a text. Give a "
            f"single-label model."
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


# Weights that a user gives, from a dictionary, a list or a file.


WAY = "give a text's id with a list of numbers, one for each word: {'id': [0.5, 0.5]}"


def user_weights_from(weights: Any, examples: Sequence[Example]) -> UserWeights:
    """A text's id -> its weights; a list is in the order of the texts. Raises `BadInput` for anything else."""
    if weights is None:
        return {}
    if not isinstance(weights, Mapping):
        rows = None if isinstance(weights, str | bytes | Path) else listed_members(weights)
        if rows is None or len(rows) != len(examples):
            count = "" if rows is None else f", {len(rows)} of them for {len(examples)} texts"
            raise BadInput(f"weights came as {type(weights).__name__}{count}; {WAY}.")
        weights = {example.id: row for example, row in zip(examples, rows, strict=True)}
    return {str(name): _numbers(name, row) for name, row in weights.items()}


def _numbers(name: object, row: Any) -> list[float]:
    members = None if isinstance(row, str | bytes | Mapping) else listed_members(row)
    if not members or any(isinstance(one, bool) or not isinstance(one, Real) for one in members):
        raise BadInput(f"The weights of text {quoted(name)} are no list of numbers; {WAY}.")
    return [float(one) for one in members]  # type: ignore[arg-type]  # all are numbers


def user_weights_in_file(path: Path) -> dict[str, Any]:
    """Weights of a JSON file, {"id": [...]}, or of JSON lines, {"id": ..., "weights": [...]}; raises `BadFile` for
    other files.
    """
    text = read_text(path)
    try:
        return dict(parsed(text)) if path.suffix == ".json" else _of_lines(text)
    except (ValueError, TypeError, LookupError):
        raise BadFile(
            f'{path} does not hold weights; write a line {{"id": "review-1", "weights": [0.5, 0.5]}} for each text, or '
            f"one object "
            "of ids with their weights in a .json file."
        ) from None


def _of_lines(text: str) -> dict[str, Any]:
    records = [parsed(line) for line in text.split("\n") if line.strip()]
    return {str(record["id"]): record["weights"] for record in records}
