"""An explanation as a flat record of plain values, as a row of a Parquet file or an object of JSON holds it.

Scores are flattened; `rows` and the units give their shape. Fields of free form (meta, rows, settings) are JSON texts.
"""

from collections.abc import Sequence
from typing import TypedDict

import numpy as np

from pellucid.base.checks import quoted, reason
from pellucid.base.errors import BadInput
from pellucid.base.json_text import nan_as_none, parsed, plain_json
from pellucid.results.explanation import Explained, Explanation, Prediction
from pellucid.text.example import Example, Rationale, prompted
from pellucid.text.units import Reading, Spans, Units

NO_META, NO_ROWS = "{}", "[]"


class RationaleRecord(TypedDict):
    """A marked part: characters [start, end) of a segment."""

    segment: int
    start: int
    end: int


class ExampleRecord(TypedDict):
    """An example; meta is a JSON text."""

    id: str
    segments: list[str]
    label: str | None
    rationales: list[RationaleRecord]
    meta: str


class UnitsRecord(TypedDict):
    """What scores belong to; of spans their parts, and each span's first and last part (None for other units).

    unit_reading: what the model can read of each; None where it reads all of them whole, or where that is not known.
    """

    unit: str
    unit_labels: list[str]
    unit_segment: list[int]
    unit_start: list[int]
    unit_end: list[int]
    unit_reading: list[Reading] | None
    span_first: list[int] | None
    span_last: list[int] | None


class AnswerRecord(TypedDict):
    """The explained value, and the model's prediction."""

    target_label: str
    target_against: str | None
    target_output: str
    target_value: float
    predicted: str
    classes: list[str]
    logits: list[float]
    probabilities: list[float]


class DiagnosticRecord(TypedDict):
    """A diagnostic with its value."""

    name: str
    value: float


class ExplanationRecord(ExampleRecord, UnitsRecord, AnswerRecord):
    """An explanation; rows, row_facts and settings are JSON texts."""

    scores: list[float]
    rows: str
    row_facts: str | None
    method: str
    settings: str
    seed: int
    model: str
    model_hash: str
    diagnostics: list[DiagnosticRecord]
    caveats: list[str]


def to_record(explanation: Explanation) -> ExplanationRecord:
    """The record of an explanation; `from_record` makes an equal explanation of it."""
    return {
        **example_record(explanation.example),
        **_units_record(explanation.units),
        "scores": explanation.scores.ravel().tolist(),
        "rows": plain_json(explanation.rows) if explanation.rows else NO_ROWS,
        "row_facts": _row_facts(explanation),
        **_answer_record(explanation.target, explanation.prediction),
        "method": explanation.method,
        "settings": plain_json(dict(explanation.settings)),
        "seed": explanation.seed,
        "model": explanation.model,
        "model_hash": explanation.model_hash,
        "diagnostics": [{"name": name, "value": value} for name, value in explanation.diagnostics.items()],
        "caveats": list(explanation.caveats),
    }


def plain_record(explanation: Explanation) -> dict[str, object]:
    """The record for other programs: no JSON inside strings, and None where there is no number."""
    record = to_record(explanation)
    free = {"meta": record["meta"], "rows": record["rows"], "settings": record["settings"]}
    values = {name: parsed(text) for name, text in free.items()}
    values["row_facts"] = parsed(record["row_facts"] or "null")
    return nan_as_none({**record, **values, "diagnostics": dict(explanation.diagnostics)})


def _row_facts(explanation: Explanation) -> str | None:
    """What is known of each row by itself, and which row this is; None where there is nothing to say."""
    values = explanation.target.of_rows
    if not explanation.row_caveats and not explanation.of_row and not values:
        return None
    facts = {
        "diagnostics": [dict(diagnostics) for diagnostics in explanation.row_diagnostics],
        "caveats": explanation.row_caveats,
        "of_row": explanation.of_row,
    }
    return plain_json(facts | ({"values": values} if values else {}))


def example_record(example: Example) -> ExampleRecord:
    """The record of an example, a part of its explanation's record."""
    return {
        "id": example.id,
        "segments": list(example.segments),
        "label": example.label,
        "rationales": [{"segment": mark.segment, "start": mark.start, "end": mark.end} for mark in example.rationales],
        "meta": _plain_meta(example),
    }


def content_key(example: Example) -> str:
    """Equal for examples that differ in nothing but their id."""
    return plain_json({name: value for name, value in example_record(example).items() if name != "id"})


def _plain_meta(example: Example) -> str:
    if not example.meta:  # as nearly always, and an encoder takes ten times as long to say so
        return NO_META
    try:
        return plain_json(dict(example.meta))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            f"The meta of example {quoted(example.id)} cannot be saved: {reason(error)}; use plain values."
        ) from None


def _units_record(units: Units | Spans) -> UnitsRecord:
    spans = units if isinstance(units, Spans) else None
    parts = units if not isinstance(units, Spans) else units.parts
    return {
        "unit": parts.kind,
        "unit_labels": list(parts.labels),
        "unit_segment": list(parts.segment),
        "unit_start": list(parts.start),
        "unit_end": list(parts.end),
        "unit_reading": list(parts.readings) or None,
        "span_first": None if spans is None else spans.first.tolist(),
        "span_last": None if spans is None else spans.last.tolist(),
    }


def _answer_record(target: Explained, prediction: Prediction) -> AnswerRecord:
    return {
        "target_label": target.label,
        "target_against": target.against,
        "target_output": target.output,
        "target_value": target.value,
        "predicted": prediction.label,
        "classes": list(prediction.labels),
        "logits": list(prediction.logits),
        "probabilities": list(prediction.probabilities),
    }


def from_record(record: ExplanationRecord) -> Explanation:
    """The explanation of a record made by `to_record`."""
    rows = tuple((kind, tuple(labels)) for kind, labels in parsed(record["rows"]))
    units = _units(record)
    shape = (*(len(labels) for _, labels in rows), len(units))
    facts = parsed(record["row_facts"] or "{}")
    return Explanation(
        example=example_of(record),
        units=units,
        scores=np.array(record["scores"], dtype=np.float32).reshape(shape),
        rows=rows,
        target=_explained(record, facts.get("values", ())),
        prediction=_prediction(record),
        method=record["method"],
        settings=parsed(record["settings"]),
        seed=record["seed"],
        model=record["model"],
        model_hash=record["model_hash"],
        diagnostics={item["name"]: item["value"] for item in record["diagnostics"]},
        caveats=tuple(record["caveats"]),
        row_diagnostics=tuple(facts.get("diagnostics", ())),
        row_caveats=tuple(map(tuple, facts.get("caveats", ()))),
        of_row=tuple((kind, label) for kind, label in facts.get("of_row", ())),
    )


def example_of(record: ExampleRecord) -> Example:
    """The example of a record."""
    marks = tuple(Rationale(**mark) for mark in record["rationales"])
    meta = {} if record["meta"] == NO_META else parsed(record["meta"])
    return prompted(tuple(record["segments"]), record["label"], marks, record["id"], meta)


def _units(record: UnitsRecord) -> Units | Spans:
    units = Units(
        record["unit"],
        tuple(record["unit_labels"]),
        tuple(record["unit_segment"]),
        tuple(record["unit_start"]),
        tuple(record["unit_end"]),
        readings=tuple(record["unit_reading"] or ()),
    )
    if record["span_first"] is None:
        return units
    return Spans(units, np.array(record["span_first"], dtype=np.int64), np.array(record["span_last"], dtype=np.int64))


def _explained(record: AnswerRecord, of_rows: Sequence[float]) -> Explained:
    return Explained(
        record["target_label"],
        record["target_against"],
        record["target_output"],
        record["target_value"],
        tuple(of_rows),
    )


def _prediction(record: AnswerRecord) -> Prediction:
    return Prediction(
        record["predicted"],
        tuple(record["classes"]),
        tuple(record["logits"]),
        tuple(record["probabilities"]),
    )
