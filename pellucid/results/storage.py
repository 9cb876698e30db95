"""Parquet files of unknown origin, read within limits: a few compressed bytes can unfold to gigabytes.

Before the table is read, the number of values that the file claims is compared with its size. While the table is read,
the unfolded bytes are. The bounds are far above what texts and scores compress to.
"""

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pellucid.base.checks import every, quoted, reason
from pellucid.base.errors import BadFile, BadInput, PellucidError
from pellucid.base.files import disk_errors, file_name, possible_path, whole_file, write_text
from pellucid.base.json_text import read_json
from pellucid.base.memory import not_enough_memory
from pellucid.results.explanation import Explanation, Prediction, RowAxis
from pellucid.results.explanation_record import ExplanationRecord, from_record, to_record
from pellucid.text.units import BY_SIZE, READINGS, SPECIAL, Spans, Units

# The most values of a file: VALUES, and VALUES_A_BYTE more for each of its bytes. The most unfolded bytes, likewise.
VALUES, VALUES_A_BYTE = 1_000_000, 100
BYTES, BYTES_A_BYTE = 64 << 20, 1000
ROWS_AT_ONCE = 256
GROUP = 1024  # rows of a file that are written together


def bounded_batches(path: Path, form: str, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a file of this form, some at a time, with only these columns; raises `BadFile` beyond the bounds."""
    with pq.ParquetFile(path, page_checksum_verification=True) as file:
        if (file.schema_arrow.metadata or {}).get(b"form") != form.encode():
            raise BadFile(f"{path} is Parquet, but not explanations saved by Pellucid.")
        check_values(path, file.metadata)
        most, size = BYTES + BYTES_A_BYTE * path.stat().st_size, 0
        for batch in file.iter_batches(ROWS_AT_ONCE, columns=list(columns), use_threads=False):
            size += batch.nbytes
            if size > most:
                raise BadFile(f"{path} unfolds to more than {most:,} bytes, which cannot be meant; it is not read.")
            yield batch


def bounded_table(path: Path, form: str, schema: pa.Schema) -> pa.Table:
    """The whole table of such a file, with the columns of a schema."""
    try:
        batches = [batch.select(schema.names) for batch in bounded_batches(path, form, schema.names)]
        table = pa.Table.from_batches(batches) if batches else schema.empty_table()
        return table.cast(schema.remove_metadata()).combine_chunks()
    except (LookupError, pa.ArrowException) as error:
        raise _not_ours(path, error) from None


def check_values(path: Path, metadata: pq.FileMetaData) -> None:
    """Raise `BadFile` where a file claims more values than its bytes can contain."""
    groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
    rows = max(metadata.num_rows, sum(group.num_rows for group in groups))
    values = sum(group.column(column).num_values for group in groups for column in range(group.num_columns))
    values, size = max(values, rows * metadata.num_columns), path.stat().st_size
    if values > VALUES + VALUES_A_BYTE * size:
        raise BadFile(f"{path} says that its {size:,} bytes hold {values:,} values, which cannot be; it is not read.")


# Explanations as Parquet or JSON files, with every field, equal after they are read again; no pickle.
#
# One record an explanation.

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
        "unit_reading": pa.list_(_text),
        "span_first": pa.list_(_number),
        "span_last": pa.list_(_number),
        "scores": pa.list_(pa.float32()),
        "rows": _text,
        "row_facts": _text,
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
LATER = ("row_facts", "unit_reading")  # fields that files of earlier versions lack; None there
EXAMPLE_COLUMNS = ("id", "segments", "label", "rationales", "meta")


def check_name(path: str | Path) -> Path:
    """The path, if results can be saved under its name; else `BadFile`."""
    path = possible_path(path)
    if path.suffix not in (".parquet", ".json"):
        raise BadFile(f"{quoted(str(path))} ends in {path.suffix!r}; give a name that ends in .parquet or .json.")
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
    if path.suffix == ".json":
        records = [record for group in _record_groups(explanations) for record in group]
        write_text(path, json.dumps({"form": FORM, "explanations": records}, ensure_ascii=False))
    else:
        groups = (arrow_table(records, SCHEMA, f"Cannot write {path}") for records in _record_groups(explanations))
        with whole_file(path) as temporary:
            write_checked(groups, SCHEMA, temporary)


def _record_groups(explanations: Sequence[Explanation]) -> Iterator[list[ExplanationRecord]]:
    """The records, some at a time: a sequence that reads its members from a disk is never in memory whole."""
    step = GROUP if isinstance(explanations, Sequence) and not isinstance(explanations, str) else sys.maxsize
    for start in range(0, len(explanations) if step == GROUP else 1, step):
        some = explanations[start : start + step] if step == GROUP else explanations
        checked = every("explanations", some, Explanation, "give what explain or read returned")
        yield [to_record(explanation) for explanation in checked]


def write_checked(tables: Iterable[pa.Table], schema: pa.Schema, file: BinaryIO | pa.NativeFile) -> None:
    """Write tables as row groups with checksums: Parquet alone reads a flipped bit as another value.

    Numbers that hardly repeat are split by bytes, which takes a quarter less room than a dictionary of them.
    """
    columns = [leaf for field in schema for leaf in _leaves(field.name, field.type)]
    split = {name for name, kind in columns if pa.types.is_floating(kind)}
    with pq.ParquetWriter(
        file,
        schema,
        compression="zstd",
        write_page_checksum=True,
        use_dictionary=[name for name, _ in columns if name not in split],
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
    ) as writer:
        for table in tables:
            writer.write_table(table)


def _leaves(name: str, kind: pa.DataType) -> Iterator[tuple[str, pa.DataType]]:
    """The columns that Parquet makes of a field, by their names in it."""
    if pa.types.is_list(kind):
        yield from _leaves(f"{name}.list.element", kind.value_type)
    elif pa.types.is_struct(kind):
        for field in kind:
            yield from _leaves(f"{name}.{field.name}", field.type)
    else:
        yield name, kind


def arrow_table(records: Sequence[Mapping[str, object]], schema: pa.Schema, failure: str) -> pa.Table:
    """The records as a table; values that do not fit raise `BadInput`, which begins with these words."""
    try:
        return pa.Table.from_pylist(records, schema=schema)
    except (ValueError, OverflowError, pa.ArrowException) as error:  # a ValueError: half of a surrogate pair
        raise BadInput(f"{failure}: {reason(error)}; use plain values.") from None


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


def as_records(explanations: Sequence[Explanation]) -> list[ExplanationRecord]:
    """The records of explanations, for files that hold more than explanations."""
    return [to_record(explanation) for explanation in explanations]


def from_records(records: Sequence[object]) -> list[Explanation]:
    """The explanations of records of unknown origin; raises whatever does not fit as an error of some kind."""
    try:
        typed = pa.Table.from_pylist(records, schema=SCHEMA).to_pylist()
    except pa.ArrowException as error:
        raise ValueError(reason(error)) from None
    return [_checked(from_record(record)) for record in typed]


def _checked(explanation: Explanation) -> Explanation:
    check_fitting(explanation)
    return explanation


def _not_ours(path: Path, error: Exception) -> BadFile:
    return BadFile(f"{path} does not hold explanations saved by Pellucid ({reason(error)}).")


def _records(path: Path) -> Iterator[ExplanationRecord]:
    """The file's records, with every field in the type of SCHEMA."""
    if path.suffix == ".json":
        whole = read_json(path)
        if isinstance(whole, dict) and str(whole.get("form")).startswith("pellucid-layers-"):
            raise BadFile(
                f"{path} holds a layer analysis; read it with pellucid.LayerAnalysis.read, or draw it with "
                "`pellucid figure`."
            )
        if not isinstance(whole, dict) or whole.get("form") != FORM:
            raise BadFile(f"{path} is JSON, but not explanations saved by Pellucid.")
        yield from pa.Table.from_pylist(whole["explanations"], schema=SCHEMA).to_pylist()
        return
    if not path.exists():
        raise BadFile(f"There is no file {path}.")
    for batch in bounded_batches(path, FORM, SCHEMA.names):
        table = pa.Table.from_batches([batch])
        for name in set(LATER) - set(table.schema.names):
            table = table.append_column(name, pa.nulls(len(table), SCHEMA.field(name).type))
        yield from table.select(SCHEMA.names).cast(SCHEMA).to_pylist()


# Checks that the parts of an explanation fit each other, for explanations read from files, which may contain
# anything.


def check_fitting(explanation: Explanation) -> None:
    """Raise `ValueError` where units lie outside their text, or names, classes and numbers do not fit."""
    _check_names(explanation)
    _check_numbers([explanation.target.value, explanation.seed, *explanation.diagnostics.values()])
    _check_rows(explanation.rows)
    _check_row_facts(explanation)
    _check_prediction(explanation.prediction)
    if not np.isfinite(explanation.scores).all():
        raise ValueError("a score is not a finite number")
    units = explanation.units
    _check_offsets(units.parts if isinstance(units, Spans) else units, explanation.example.segments)
    if isinstance(units, Spans):
        _check_spans(units)


def _check_names(explanation: Explanation) -> None:
    """Names and sentences are strings; settings and meta are names with values."""
    target, example = explanation.target, explanation.example
    against = [] if target.against is None else [target.against]
    _check_words([example.id, target.label, *against, target.output])
    _check_words([explanation.method, explanation.model, explanation.model_hash])
    _check_words([*explanation.caveats, *explanation.diagnostics])
    for name, facts in (("settings", explanation.settings), ("meta", example.meta)):
        if not isinstance(facts, Mapping):
            raise ValueError(f"the {name} are {quoted(facts)}, not names with values")


def _check_prediction(prediction: Prediction) -> None:
    _check_words(prediction.labels)
    classes = len(prediction.labels)
    if prediction.label not in prediction.labels or len(set(prediction.labels)) < classes:
        raise ValueError("the predicted class is none of the classes, or two of them share a name")
    if len(prediction.probabilities) not in (0, classes):
        raise ValueError(f"{len(prediction.probabilities)} probabilities for {classes} classes")
    _check_numbers([*prediction.logits, *prediction.probabilities])


def _check_rows(rows: Sequence[RowAxis]) -> None:
    for kind, labels in rows:
        _check_words([kind, *labels])
        if not labels or len(set(labels)) < len(labels):
            raise ValueError(f"the rows by {kind} have no names, or one of them twice")


def _check_row_facts(explanation: Explanation) -> None:
    """Each label of the first axis has diagnostics and caveats, or none has."""
    n_rows = len(explanation.rows[0][1]) if explanation.rows else 0
    if {len(explanation.row_diagnostics), len(explanation.row_caveats)} not in ({0}, {n_rows}):
        raise ValueError("the diagnostics and caveats of rows do not fit the rows")
    if len(explanation.target.of_rows) not in (0, n_rows):
        raise ValueError("the values of rows do not fit the rows")
    _check_numbers(explanation.target.of_rows)
    for diagnostics, caveats in zip(explanation.row_diagnostics, explanation.row_caveats, strict=True):
        _check_words([*diagnostics, *caveats])
        _check_numbers(diagnostics.values())
    for kind, label in explanation.of_row:
        _check_words([kind, label])


def _check_words(words: Iterable[object]) -> None:
    for word in words:
        if not isinstance(word, str):
            raise ValueError(f"a name is {quoted(word)}")


def _check_numbers(numbers: Iterable[object]) -> None:
    for value in numbers:
        if not isinstance(value, int | float):
            raise ValueError(f"a number is {quoted(value)}")


def _check_offsets(units: Units, segments: Sequence[str]) -> None:
    if units.kind not in BY_SIZE:
        raise ValueError(f"its units are {quoted(units.kind)}; there are {', '.join(BY_SIZE)}")
    _check_words(units.labels)
    if not set(units.readings) <= set(READINGS):
        raise ValueError(f"the model reads units {quoted(units.readings)}; there are {', '.join(READINGS)}")
    for segment, start, end in zip(units.segment, units.start, units.end, strict=True):
        size = 0 if segment == SPECIAL else len(segments[segment]) if 0 <= segment < len(segments) else -1
        if not 0 <= start <= end <= size:
            raise ValueError(f"a unit lies at characters {start} to {end} of text {segment}")


def _check_spans(spans: Spans) -> None:
    first, last, count = spans.first, spans.last, len(spans.parts)
    if first.shape != last.shape or not ((first >= 0) & (first <= last) & (last < count)).all():
        raise ValueError("a span begins or ends at a unit that is not there")
    segment = np.array(spans.parts.segment, dtype=np.int64)
    if (segment[first] != segment[last]).any() or (segment[first] == SPECIAL).any():
        raise ValueError("a span lies in two texts, or in none")
