"""Examples as JSON lines, from which Pellucid reads equal examples; and explanations, one record each."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, BinaryIO

import pyarrow as pa

from pellucid.base.checks import every
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.files import possible_path, whole_file
from pellucid.base.packages import optional_package
from pellucid.base.wording import quoted
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import example_record, plain_record, to_record
from pellucid.results.storage import EXAMPLE_COLUMNS, SCHEMA, arrow_table
from pellucid.text.example import Example

TEXTS = {1: ("text",), 2: ("text_a", "text_b")}
EVIDENCE = {"text": "evidence", "text_a": "evidence_a", "text_b": "evidence_b"}
FIELDS = {"id", "label", "text", *TEXTS[2], *EVIDENCE.values()}


def write_json_lines(items: Iterable[Example | Explanation], path: str | Path) -> None:
    """Write examples or explanations to a .jsonl or .jsonl.gz file, whole or not at all.

    items: of an example, the entries of meta become fields. Of an explanation, all fields are plain values; `save` writes
        a file that `read` reads.
    path: the file to write; a file that exists is replaced.

    Raises `BadFile` for a name with another ending, `BadInput` for meta that JSON cannot hold, or that has the name of one
    of our fields.

    >>> pellucid.write_json_lines([pellucid.Example(("A good film.",), "positive", id="1")], "reviews.jsonl")
    >>> print(open("reviews.jsonl").read())
    {"id": "1", "text": "A good film.", "label": "positive"}
    >>> pellucid.examples("reviews.jsonl")[0].label
    'positive'
    """
    path = possible_path(path)
    items = every(
        "items", items, Example | Explanation, "give what pellucid.examples, plant or explain returned"
    )
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        raise BadFile(f"{quoted(str(path))} does not end in .jsonl or .jsonl.gz; give such a name.")
    with whole_file(path) as plain, _compressed(plain, path.suffix) as file:
        for item in items:
            line = (
                json.dumps(plain_record(item), ensure_ascii=False)
                if isinstance(item, Explanation)
                else as_line(item)
            )
            file.write((line + "\n").encode("utf-8"))


def _compressed(file: BinaryIO, ending: str) -> AbstractContextManager[IO[bytes]]:
    """The file, or a gzip file that writes into it, without name and time: equal examples give equal bytes."""
    if ending != ".gz":
        return nullcontext(file)
    return gzip.GzipFile("", "wb", fileobj=file, mtime=0)  # type: ignore[return-value]


def as_line(example: Example) -> str:
    """One example as a line of JSON."""
    names = TEXTS[len(example.segments)]
    row: dict[str, object] = {"id": example.id, **dict(zip(names, example.segments, strict=True))}
    row["label"] = (
        [] if example.label == "" else example.label
    )  # of several labels none, which is not an unknown label
    for segment, name in enumerate(names):
        marks = [[mark.start, mark.end] for mark in example.rationales if mark.segment == segment]
        row |= {EVIDENCE[name]: marks} if marks else {}
    clashing = sorted(FIELDS & set(example.meta))
    if clashing:
        raise BadInput(
            f"The meta of example {example.id!r} names {', '.join(clashing)}, which are fields of ours; rename it."
        )
    try:
        line = json.dumps(row | dict(example.meta), ensure_ascii=False)
        line.encode("utf-8")  # fails where meta holds half of a surrogate pair
        return line
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(
            f"The meta of example {example.id!r} cannot be written: {error}; use plain values."
        ) from None


# Examples and explanations as a `datasets.Dataset`, in the columns that our Parquet files have.


if TYPE_CHECKING:
    import datasets


def to_dataset(items: Sequence[Example] | Sequence[Explanation]) -> "datasets.Dataset":
    """Examples or explanations as a `datasets.Dataset`, one row each.

    `pellucid.examples` reads saved examples back by the format hugging_face.

    items: examples, or explanations; one or more, not both.

    Returns the data set. Raises `MissingPackage` without the package datasets, `BadInput` for a list that mixes examples and
    explanations, or that is empty: it would have no columns.

    >>> dataset = pellucid.to_dataset(pellucid.examples("pocket", split="dev"))
    >>> dataset.column_names
    ['id', 'segments', 'label', 'rationales', 'meta']
    """
    items = every("items", items, Example | Explanation, "give a list of examples or of explanations")
    package = optional_package("datasets")
    explanations = [item for item in items if isinstance(item, Explanation)]
    examples = [item for item in items if isinstance(item, Example)]
    records: Sequence[Mapping[str, object]]
    if items and len(explanations) == len(items):
        records, schema = [to_record(explanation) for explanation in explanations], SCHEMA
    elif items and len(examples) == len(items):
        records = [example_record(example) for example in examples]
        schema = pa.schema([SCHEMA.field(name) for name in EXAMPLE_COLUMNS])
    else:
        raise BadInput("Give a list of examples, or a list of explanations, with at least one.")
    table = arrow_table(records, schema.remove_metadata(), "A data set cannot hold these")
    return package.Dataset(table)
