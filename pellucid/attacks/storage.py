"""Attempts of attacks as Parquet or JSON files, with every field, equal after they are read again; no pickle."""

import json
import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pellucid.attacks.attack_case import ENDINGS, Attempt, Edit, ExplanationShift
from pellucid.base.checks import reason
from pellucid.base.errors import BadFile, PellucidError
from pellucid.base.files import disk_errors, file_name, whole_file, write_text
from pellucid.base.json_text import nan_as_none, parsed, read_json
from pellucid.results.explanation import Prediction
from pellucid.results.explanation_record import example_record
from pellucid.results.storage import arrow_table, bounded_batches, check_name, write_checked
from pellucid.text.example import Example, Rationale

FORM = "pellucid-attempts-1"

_text, _number = pa.string(), pa.int32()
_answer = pa.struct({"label": _text, "logits": pa.list_(pa.float64()), "probabilities": pa.list_(pa.float64())})
_edit = pa.struct({"segment": _number, "start": _number, "end": _number, "before": _text, "after": _text})
_shift = pa.struct({"tau": pa.float64(), "overlap": pa.float64(), "before": pa.list_(_text), "after": pa.list_(_text)})
_place = pa.struct({"segment": _number, "start": _number, "end": _number})
LATER = ("goal", "about", "shift", "unread")  # columns that files of the first weeks have not
SCHEMA = pa.schema(
    {
        "id": _text,
        "segments": pa.list_(_text),
        "label": _text,
        "rationales": pa.list_(pa.struct({"segment": _number, "start": _number, "end": _number})),
        "meta": _text,
        "attack": _text,
        "edits": pa.list_(_edit),
        "edited": pa.list_(_text),
        "classes": pa.list_(_text),
        "before": _answer,
        "after": _answer,
        "queries": pa.int64(),
        "n_words": pa.int64(),
        "similarity": pa.float64(),
        "ending": _text,
        "goal": _text,
        "about": _text,
        "shift": _shift,
        "unread": pa.list_(_place),
    },
    metadata={"form": FORM},
)


def save_attempts(attempts: Sequence[Attempt], path: str | Path) -> None:
    """Write attempts to a .parquet or .json file, whole or not at all; raises `BadFile` for another ending."""
    path = file_name(check_name(path))
    records = [attempt_record(attempt) for attempt in attempts]
    if path.suffix == ".json":
        write_text(path, json.dumps({"form": FORM, "attempts": records}, ensure_ascii=False))
        return
    with whole_file(path) as temporary:
        write_checked([arrow_table(records, SCHEMA, f"Cannot write {path}")], SCHEMA, temporary)


def read_attempts(path: str | Path) -> list[Attempt]:
    """Read what `save_attempts` wrote; raises `BadFile` for anything else."""
    path = file_name(path)
    try:
        with disk_errors("read", path):
            return [attempt_from(record) for record in _records(path)]
    except PellucidError as error:
        raise error if isinstance(error, BadFile) else _not_ours(path, error) from None
    except (ValueError, LookupError, TypeError, AttributeError, OverflowError, pa.ArrowException) as error:
        raise _not_ours(path, error) from None


def holds_attempts(path: Path) -> bool:
    """Whether a file is of this form."""
    if path.suffix == ".parquet" and path.is_file():
        try:
            return (pq.read_schema(path).metadata or {}).get(b"form") == FORM.encode()
        except (pa.ArrowException, OSError):
            return False
    if path.suffix != ".json" or not path.is_file():
        return False
    whole = read_json(path)
    return isinstance(whole, dict) and whole.get("form") == FORM


def attempt_record(attempt: Attempt) -> dict[str, object]:
    """The record of an attempt; `attempt_from` makes an equal one of it."""
    return nan_as_none(
        {
            **example_record(attempt.example),
            "attack": attempt.attack,
            "edits": [
                {
                    "segment": edit.segment,
                    "start": edit.start,
                    "end": edit.end,
                    "before": edit.before,
                    "after": edit.after,
                }
                for edit in attempt.edits
            ],
            "edited": list(attempt.segments),
            "classes": list(attempt.before.labels),
            "before": _answer_record(attempt.before),
            "after": _answer_record(attempt.after),
            "queries": attempt.queries,
            "n_words": attempt.n_words,
            "similarity": attempt.similarity,
            "ending": attempt.ending,
            "goal": attempt.goal,
            "about": attempt.about,
            "shift": None if attempt.shift is None else asdict(attempt.shift),
            "unread": [{"segment": segment, "start": start, "end": end} for segment, start, end in attempt.unread],
        }
    )


def attempt_from(record: dict[str, object]) -> Attempt:
    """The attempt of a record of unknown origin; raises whatever does not fit as an error of some kind."""
    (typed,) = pa.Table.from_pylist([record], schema=SCHEMA).to_pylist()
    classes, similarity = tuple(typed["classes"]), typed["similarity"]
    attempt = Attempt(
        typed["attack"],
        Example(
            tuple(typed["segments"]),
            typed["label"],
            tuple(Rationale(**mark) for mark in typed["rationales"]),
            typed["id"],
            parsed(typed["meta"]),
        ),
        tuple(Edit(**edit) for edit in typed["edits"]),
        _prediction(classes, typed["before"]),
        _prediction(classes, typed["after"]),
        typed["queries"],
        typed["n_words"],
        math.nan if similarity is None else similarity,
        typed["ending"],
        typed["goal"] or "flip",
        typed["about"] or "",
        None if typed["shift"] is None else _shift_from(typed["shift"]),
        tuple((place["segment"], place["start"], place["end"]) for place in typed["unread"] or ()),
    )
    _check(attempt, tuple(typed["edited"]))
    return attempt


def _shift_from(record: dict[str, object]) -> ExplanationShift:
    tau, overlap = (math.nan if record[name] is None else record[name] for name in ("tau", "overlap"))
    before, after = record["before"], record["after"]
    if not (isinstance(tau, float) and isinstance(overlap, float)):  # of the schema, as the lists are
        raise ValueError("a shift has no numbers")
    if not (isinstance(before, list) and isinstance(after, list)):
        raise ValueError("a shift has no words")
    return ExplanationShift(tau, overlap, tuple(before), tuple(after))


def _check(attempt: Attempt, edited: tuple[str, ...]) -> None:
    """Raise `ValueError` where the parts do not fit each other."""
    if attempt.ending not in ENDINGS:
        raise ValueError(f"an attempt ends in {attempt.ending!r}; there are {', '.join(ENDINGS)}")
    for edit in attempt.edits:
        if attempt.example.segments[edit.segment][edit.start : edit.end] != edit.before:
            raise ValueError(f"an edit replaces {edit.before!r}, which does not stand at its place")
    for segment, start, end in attempt.unread:
        if not 0 <= start < end <= len(attempt.example.segments[segment]):
            raise ValueError("a word that the model cannot read has no place in the text")
    if attempt.segments != edited:
        raise ValueError("the edited text is not what its edits make")


def _answer_record(answer: Prediction) -> dict[str, object]:
    return {
        "label": answer.label,
        "logits": list(answer.logits),
        "probabilities": list(answer.probabilities),
    }


def _prediction(classes: tuple[str, ...], record: dict[str, object]) -> Prediction:
    logits, probabilities = record["logits"], record["probabilities"]
    if not (isinstance(logits, list) and isinstance(probabilities, list)):  # None, of a damaged footer
        raise ValueError("an answer has no numbers")
    if record["label"] not in classes or len(probabilities) not in (0, len(classes)):
        raise ValueError("an answer does not fit the classes")
    return Prediction(str(record["label"]), classes, tuple(logits), tuple(probabilities))


def _records(path: Path) -> Iterator[dict[str, object]]:
    if path.suffix == ".json":
        whole = read_json(path)
        if not isinstance(whole, dict) or whole.get("form") != FORM:
            raise BadFile(f"{path} is JSON, but not attempts saved by Pellucid.")
        yield from whole["attempts"]
        return
    if not path.exists():
        raise BadFile(f"There is no file {path}.")
    present = pq.read_schema(path).names
    schema = pa.schema([field for field in SCHEMA if field.name in present or field.name not in LATER])
    for batch in bounded_batches(path, FORM, schema.names):
        yield from pa.Table.from_batches([batch]).select(schema.names).cast(schema).to_pylist()


def _not_ours(path: Path, error: Exception) -> BadFile:
    return BadFile(f"{path} does not hold attempts saved by Pellucid ({reason(error)}).")
