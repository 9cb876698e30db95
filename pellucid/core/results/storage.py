"""Explanations as Parquet or JSON, with every field, equal after they are read again; no pickle.

One record an explanation; scores are flattened, and rows and units give their shape.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pellucid.core.foundation.checks import every
from pellucid.core.foundation.errors import BadFile, BadInput, PellucidError
from pellucid.core.foundation.files import disk_errors, file_name, possible_path, whole_file, write_text
from pellucid.core.foundation.json_text import nan_as_none, parsed, read_json
from pellucid.core.foundation.memory import not_enough_memory
from pellucid.core.foundation.parquet_file import bounded_batches
from pellucid.core.foundation.wording import quoted, reason
from pellucid.core.results.explanation import Explained, Explanation, Prediction
from pellucid.core.results.record_checks import check_fitting
from pellucid.core.text.example import Example, Rationale
from pellucid.core.text.units import Spans, Units

FORM = "pellucid-explanations-1"

_text, _number = pa.string(), pa.int32()
SCHEMA = pa.schema(
    {
        "id": _text,
        "segments": pa.list_(_text),
        "label": _text,
        "rationales": pa.list_(pa.struct({"segment": _number, "start": _number, "end": _number})),
        "meta": _text,
        "unit": _text,
        "unit_labels": pa.list_(_text),
        "unit_segment": pa.list_(_number),
        "unit_start": pa.list_(_number),
        "unit_end": pa.list_(_number),
        "span_first": pa.list_(_number),
        "span_last": pa.list_(_number),
        "scores": pa.list_(pa.float32()),
        "rows": _text,
        "target_label": _text,
        "target_against": _text,
        "target_output": _text,
        "target_value": pa.float64(),
        "predicted": _text,
        "classes": pa.list_(_text),
        "logits": pa.list_(pa.float64()),
        "probabilities": pa.list_(pa.float64()),
        "method": _text,
        "settings": _text,
        "seed": pa.int64(),
        "model": _text,
        "model_hash": _text,
        "diagnostics": pa.list_(pa.struct({"name": _text, "value": pa.float64()})),
        "caveats": pa.list_(_text),
    },
    metadata={"form": FORM},
)
EXAMPLE_COLUMNS = ("id", "segments", "label", "rationales", "meta")


def to_record(explanation: Explanation) -> dict[str, Any]:
    """A flat record of plain values: the content of a Parquet row, or of a JSON object."""
    spans = explanation.units if isinstance(explanation.units, Spans) else None
    units = spans.parts if spans else explanation.units
    target, prediction = explanation.target, explanation.prediction
    return {
        **example_record(explanation.example),
        "unit": units.kind,  # type: ignore[union-attr]
        "unit_labels": list(units.labels),  # type: ignore[union-attr]
        "unit_segment": list(units.segment),  # type: ignore[union-attr]
        "unit_start": list(units.start),  # type: ignore[union-attr]
        "unit_end": list(units.end),  # type: ignore[union-attr]
        "span_first": spans.first.tolist() if spans else None,
        "span_last": spans.last.tolist() if spans else None,
        "scores": explanation.scores.ravel().tolist(),
        "rows": json.dumps(explanation.rows, ensure_ascii=False),
        "target_label": target.label,
        "target_against": target.against,
        "target_output": target.output,
        "target_value": target.value,
        "predicted": prediction.label,
        "classes": list(prediction.labels),
        "logits": list(prediction.logits),
        "probabilities": list(prediction.probabilities),
        "method": explanation.method,
        "settings": json.dumps(dict(explanation.settings), ensure_ascii=False),
        "seed": explanation.seed,
        "model": explanation.model,
        "model_hash": explanation.model_hash,
        "diagnostics": [{"name": name, "value": value} for name, value in explanation.diagnostics.items()],
        "caveats": list(explanation.caveats),
    }


def plain_record(explanation: Explanation) -> dict[str, Any]:
    """The record for other programs: no JSON inside strings, and None where there is no number."""
    record = to_record(explanation)
    for name in ("meta", "rows", "settings"):
        record[name] = parsed(record[name])
    record["diagnostics"] = dict(explanation.diagnostics)
    return nan_as_none(record)


def example_record(example: Example) -> dict[str, Any]:
    """An example's part of a record: the columns EXAMPLE_COLUMNS."""
    return {
        "id": example.id,
        "segments": list(example.segments),
        "label": example.label,
        "rationales": [asdict(mark) for mark in example.rationales],
        "meta": _plain_meta(example),
    }


def _plain_meta(example: Example) -> str:
    try:
        return json.dumps(dict(example.meta), ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            f"The meta of example {quoted(example.id)} cannot be saved: {reason(error)}; use plain values."
        ) from None


def from_record(record: dict[str, Any]) -> Explanation:
    """The explanation of a record made by `to_record`."""
    rows = tuple((kind, tuple(labels)) for kind, labels in parsed(record["rows"]))
    units = _units(record)
    shape = (*(len(labels) for _, labels in rows), len(units))
    return Explanation(
        example=_example(record),
        units=units,
        scores=np.array(record["scores"], dtype=np.float32).reshape(shape),
        rows=rows,
        target=Explained(*(record[f"target_{part}"] for part in ("label", "against", "output", "value"))),
        prediction=Prediction(
            record["predicted"],
            tuple(record["classes"]),
            tuple(record["logits"]),
            tuple(record["probabilities"]),
        ),
        method=record["method"],
        settings=parsed(record["settings"]),
        seed=record["seed"],
        model=record["model"],
        model_hash=record["model_hash"],
        diagnostics={item["name"]: item["value"] for item in record["diagnostics"]},
        caveats=tuple(record["caveats"]),
    )


def _example(record: dict[str, Any]) -> Example:
    marks = tuple(Rationale(**mark) for mark in record["rationales"])
    return Example(tuple(record["segments"]), record["label"], marks, record["id"], parsed(record["meta"]))


def _units(record: dict[str, Any]) -> Units | Spans:
    columns = (tuple(record[f"unit_{part}"]) for part in ("labels", "segment", "start", "end"))
    units = Units(record["unit"], *columns)  # type: ignore[arg-type]
    if record["span_first"] is None:
        return units
    return Spans(
        units, np.array(record["span_first"], dtype=np.int64), np.array(record["span_last"], dtype=np.int64)
    )


def check_name(path: str | Path) -> Path:
    """The path, if results can be saved under its name; else `BadFile`."""
    path = possible_path(path)
    if path.suffix not in (".parquet", ".json"):
        raise BadFile(
            f"{quoted(str(path))} ends in {path.suffix!r}; give a name that ends in .parquet or .json."
        )
    return path


def save(explanations: Sequence[Explanation], path: str | Path) -> None:
    """Write explanations to a .parquet or .json file, whole or not at all; `read` reads it.

    explanations: from `explain`, of one method or of several.
    path: the file to write; a file that exists is replaced.

    Raises `BadFile` for a name with another ending or a file that cannot be written, `BadInput` for anything else than
    explanations, or for meta that such a file cannot hold.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> pellucid.save(pellucid.explain(model, ["A good film.", "Dull."]), "results.json")
    >>> pellucid.read("results.json")[0]
    <Explanation 'A good film.' positive 0.90 by occlusion>
    """
    path = file_name(check_name(path))
    explanations = every("explanations", explanations, Explanation, "give what explain or read returned")
    records = [to_record(explanation) for explanation in explanations]
    if path.suffix == ".json":
        write_text(path, json.dumps({"form": FORM, "explanations": records}, ensure_ascii=False))
    else:
        with whole_file(path) as temporary:
            pq.write_table(_table(records, path), temporary, compression="zstd")


def _table(records: list[dict[str, Any]], path: Path) -> pa.Table:
    try:
        return pa.Table.from_pylist(records, schema=SCHEMA)
    except (
        ValueError,
        OverflowError,
        pa.ArrowException,
    ) as error:  # half of a surrogate pair is a ValueError
        raise BadInput(f"Cannot write {path}: {reason(error)}; use plain values.") from None


def read(path: str | Path) -> list[Explanation]:
    """Read what `save` wrote; raises `BadFile` for anything else."""
    path = file_name(path)
    try:
        with disk_errors("read", path):
            return [_checked(from_record(record)) for record in _records(path)]
    except PellucidError as error:
        raise error if isinstance(error, BadFile) else _not_ours(path, error) from None
    except MemoryError:
        raise not_enough_memory(f"read {path}") from None
    except (ValueError, LookupError, TypeError, OverflowError, pa.ArrowException) as error:
        raise _not_ours(path, error) from None


def _checked(explanation: Explanation) -> Explanation:
    check_fitting(explanation)
    return explanation


def _not_ours(path: Path, error: Exception) -> BadFile:
    return BadFile(f"{path} does not hold explanations saved by Pellucid ({reason(error)}).")


def _records(path: Path) -> Iterator[dict[str, Any]]:
    """The file's records, with every field in the type of SCHEMA."""
    if path.suffix == ".json":
        whole = read_json(path)
        if not isinstance(whole, dict) or whole.get("form") != FORM:
            raise BadFile(f"{path} is JSON, but not explanations saved by Pellucid.")
        yield from pa.Table.from_pylist(whole["explanations"], schema=SCHEMA).to_pylist()
        return
    if not path.exists():
        raise BadFile(f"There is no file {path}.")
    for batch in bounded_batches(path, FORM, SCHEMA.names):
        yield from pa.Table.from_batches([batch]).select(SCHEMA.names).cast(SCHEMA).to_pylist()
