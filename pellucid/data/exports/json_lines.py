"""Examples and results for other tools: JSON lines, the library datasets, and shap's explanations."""

import gzip
import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO

import numpy as np
import pyarrow as pa

from pellucid.base.checks import every, quoted
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.files import possible_path, whole_file
from pellucid.base.packages import optional_package
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import example_record, plain_record, to_record
from pellucid.results.storage import EXAMPLE_COLUMNS, SCHEMA, arrow_table
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL, Spans

TEXTS = {1: ("text",), 2: ("text_a", "text_b")}
EVIDENCE = {"text": "evidence", "text_a": "evidence_a", "text_b": "evidence_b"}
FIELDS = {"id", "label", "text", *TEXTS[2], *EVIDENCE.values()}


def write_json_lines(items: Iterable[Example | Explanation], path: str | Path) -> None:
    """Write examples or explanations to a .jsonl or .jsonl.gz file, whole or not at all.

    items: of an example, the entries of meta become fields. Of an explanation, all fields are plain values; `save`
        writes a file that `read` reads.
    path: the file to write; a file that exists is replaced.

    Raises `BadFile` for a name with another ending, `BadInput` for meta that JSON cannot hold, or that has the name of
    one of our fields.

    >>> pellucid.write_json_lines([pellucid.Example(("A good film.",), "positive", id="1")], "reviews.jsonl")
    >>> print(open("reviews.jsonl").read())
    {"id": "1", "text": "A good film.", "label": "positive"}
    >>> pellucid.examples("reviews.jsonl")[0].label
    'positive'
    """
    path = possible_path(path)
    items = every("items", items, Example | Explanation, "give what pellucid.examples, plant or explain returned")
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        raise BadFile(f"{quoted(str(path))} does not end in .jsonl or .jsonl.gz; give such a name.")
    with whole_file(path) as plain, _compressed(plain, path.suffix) as file:
        for item in items:
            line = (
                json.dumps(plain_record(item), ensure_ascii=False) if isinstance(item, Explanation) else as_line(item)
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
    row["label"] = [] if example.label == "" else example.label  # of several labels none, which is not an unknown label
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
        raise BadInput(f"The meta of example {example.id!r} cannot be written: {error}; use plain values.") from None


# Examples and explanations as a `datasets.Dataset`, in the columns that our Parquet files have.

if TYPE_CHECKING:
    import datasets


def to_dataset(items: Sequence[Example] | Sequence[Explanation]) -> "datasets.Dataset":
    """Examples or explanations as a `datasets.Dataset`, one row each.

    `pellucid.examples` reads saved examples back by the format hugging_face.

    items: examples, or explanations; one or more, not both.

    Returns the data set. Raises `MissingPackage` without the package datasets, `BadInput` for a list that mixes
    examples and explanations, or that is empty: it would have no columns.

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


# Explanations as a `shap.Explanation`, for the pictures of the package shap.


def to_shap(
    explanations: Sequence[Explanation],
) -> Any:  # a shap.Explanation, whose package is not read before it is needed
    """All explanations as one `shap.Explanation`, one row each, as shap's text plot reads it.

    A row's base value is the explained value minus the sum of its scores. For a complete method this is the target
    without the text; for others it is only a remainder. Span scores are shared among words. Units are named by their
    text, so `shap.plots.bar(to_shap(results).mean(0))` compares them over texts; for words instead of pieces, give
    `[one.words() for one in results]`.

    explanations: from `explain` or `read`, one or more, each with one row of scores.

    Returns the `shap.Explanation`. Raises `MissingPackage` without the package shap, `BadInput` for an empty list,
    `BadSetting` for scores with several rows.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> as_shap = pellucid.to_shap(pellucid.explain(model, ["A good film."]))
    >>> list(zip(as_shap.feature_names[0], as_shap.values[0].round(2).tolist()))
    [('A', 0.0), ('good', 1.5), ('film', 0.0), ('.', 0.0)]
    """
    package = optional_package("shap")
    explanations = every("explanations", explanations, Explanation, "give what explain or read returned")
    if not explanations:
        raise BadInput("There are no explanations to hand to shap.")
    parts = [
        explanation.words() if isinstance(explanation.units, Spans) else explanation for explanation in explanations
    ]
    scores = [_scores(explanation) for explanation in parts]
    return package.Explanation(
        values=_ragged(scores),
        base_values=np.array(
            [explanation.target.value - row.sum() for explanation, row in zip(parts, scores, strict=True)]
        ),
        data=_ragged([np.array(unit_texts(explanation), dtype=object) for explanation in parts]),
        feature_names=[_names(explanation) for explanation in parts],
    )


def _scores(explanation: Explanation) -> np.ndarray:
    """[unit]: its scores; raises `BadSetting`, naming the rows, where there are several."""
    explanation.ranking()
    return explanation.scores.astype(np.float64)


def _names(explanation: Explanation) -> list[str]:
    """Each unit's own text, without blanks around it; of a special token its label."""
    units, segments = explanation.units, explanation.example.segments
    assert not isinstance(units, Spans)
    return [
        label if segment == SPECIAL else segments[segment][start:end].strip()
        for label, segment, start, end in zip(units.labels, units.segment, units.start, units.end, strict=True)
    ]


def _ragged(rows: list[np.ndarray]) -> np.ndarray:
    """An array of arrays, also where all have one length."""
    ragged = np.empty(len(rows), dtype=object)
    for index, row in enumerate(rows):  # one by one: numpy makes a matrix of rows of one length
        ragged[index] = row
    return ragged


def unit_texts(explanation: Explanation) -> list[str]:
    """Each unit's part of the text up to the next unit: joined, they are the text. Special tokens have an empty
    part.
    """
    units, segments = explanation.units, explanation.example.segments
    assert not isinstance(units, Spans)
    texts = [""] * len(units)
    for segment, text in enumerate(segments):
        inside = [index for index in units.content if units.segment[index] == segment]
        bounds = [0, *(units.start[index] for index in inside[1:]), len(text)]
        for index, start, end in zip(inside, bounds, bounds[1:], strict=False):
            texts[index] = text[start:end]
        if inside and segment + 1 < len(segments):
            texts[inside[-1]] += "\n"  # between the texts of a pair
    return texts
