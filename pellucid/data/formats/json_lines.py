"""JSON lines: one example a line, in the common form of development data.

Fields: `id`, `text` (or `premise`/`hypothesis`, `text_a`/`text_b` and other usual names), `label`, and where people
marked why `evidence` (or `evidence_premise`, `evidence_hypothesis`, `evidence_a`, `evidence_b`): [start, end)
characters, or another form that `marks_in` reads. Where several people marked why, `annotators`: one list of marks
each, [start, end) or [segment, start, end); what any of them marked is then the evidence, unless the row has its own.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice
from pathlib import Path

from pellucid.base.checks import known
from pellucid.base.errors import BadFile
from pellucid.base.json_text import parsed
from pellucid.base.kinds import formats
from pellucid.data.shared.columns import (
    SAMPLE,
    Columns,
    SeveralColumns,
    columns_of,
    label_field,
    named_fields,
    no_text_column,
    say_how_read,
    usual_fields,
)
from pellucid.data.shared.delimited import encoding_in_words, encoding_of
from pellucid.data.shared.part_files import filled_lines
from pellucid.data.shared.rows import (
    MarkColumn,
    ReadRow,
    agreed_rationales,
    evidence_field,
    of_classes,
    read_rows,
)
from pellucid.text.example import Example, Rationale, annotators_of, has_annotators


@formats.add(reads="one .jsonl file, or train.jsonl, dev.jsonl, test.jsonl", data="any", rationales=True)
def json_lines(
    path: Path,
    split: str,
    *,
    text: str | None = None,
    second: str | None = None,
    label: str | None = None,
    evidence: str | None = None,
    classes: str | None = None,
) -> Iterator[ReadRow]:
    """JSON lines, also gzipped, one object an example; other fields become its meta.

    text, second, label: the fields; by default those with usual names, else by their content, with a warning that says
        so.
    evidence: the field of the marks in the (first) text, where it has an unusual name. classes: names with commas
    between them; rows with other labels are left out. None: all rows.
    """
    file = split_file(path, split) if path.is_dir() else path
    codec = encoding_of(file)
    columns = _columns(file, codec, text, second, label, evidence)
    words = encoding_in_words(codec)
    if columns is not None:
        say_how_read(file.name, words and f"JSON lines in {words}", columns)
    make = partial(_example, text=text, second=second, label=label, evidence=evidence, columns=columns)
    yield from of_classes(read_rows(file, filled_lines(file, codec), make), classes)


def _columns(
    file: Path, codec: str, text: str | None, second: str | None, label: str | None, evidence: str | None
) -> Columns | None:
    """The fields of the first rows; None where these have no text, so that each row is reported by its line.

    Raises `UnknownName` for a field that the user names and none of them has.
    """
    rows = [row for _, line in islice(filled_lines(file, codec), SAMPLE) if (row := _object(line)) is not None]
    names = list(dict.fromkeys(name for row in rows for name in row))
    for named in (text, second, label):
        if named is not None and rows:
            known("field", named, names)
    try:
        columns = columns_of(
            names,
            rows,
            text,
            second,
            label if label in names else None,
            evidence if evidence in names else None,
        )
    except SeveralColumns as error:
        if any(map(usual_fields, rows)):
            return None
        raise BadFile(f"{file}: {error}; its fields are: {', '.join(names)}.") from None
    except ValueError:
        return None
    ours = set(map(evidence_field, columns.texts))  # wrong marks in these make bad rows
    return replace(columns, unread_marks=tuple(name for name in columns.unread_marks if name not in ours))


def _object(line: str) -> dict[str, object] | None:
    try:
        row = parsed(line)
    except ValueError:
        return None
    return row if isinstance(row, dict) else None


def split_file(folder: Path, split: str) -> Path:
    """A split's file in a folder of JSON lines, plain or gzipped; raises `BadFile` when there is none."""
    for name in (f"{split}.jsonl", f"{split}.jsonl.gz"):
        if (folder / name).is_file():
            return folder / name
    there = ", ".join(sorted(path.name for path in folder.glob("*.jsonl*"))) or "none"
    raise BadFile(f"{folder} has no {split}.jsonl or {split}.jsonl.gz; JSON lines there: {there}.")


def _example(
    line: str,
    line_number: int,
    *,
    text: str | None,
    second: str | None,
    label: str | None,
    evidence: str | None,
    columns: Columns | None,
) -> list[Example]:
    row = parsed(line)
    if not isinstance(row, dict):
        raise ValueError(f"it is {type(row).__name__}, not an object with fields")
    names = named_fields(row, text, second) or usual_fields(row) or _present(row, columns)
    labelled = label_field(row, label) or _recognised_label(row, columns, names)
    marks = _mark_columns(row, names, evidence, columns)
    used = {*names, labelled, "id", *(column.name for column in marks)}
    meta = {key: value for key, value in row.items() if key not in used}
    label_name = _label(row[labelled]) if labelled else None
    segments = tuple(row[name] for name in names)
    rationales = tuple(mark for column in marks for mark in column.marks(row, list(map(str, segments))))
    example = Example(segments, label_name, rationales, _id(row, line_number), meta)
    if not has_annotators(meta):
        return [example]
    annotators = annotators_of(example)  # a mark outside the text makes a bad row, also where there is evidence
    has_evidence = any(column.name in row for column in marks)
    return [example if has_evidence else replace(example, rationales=_of_anyone(example, annotators))]


def _id(row: dict[str, object], line_number: int) -> str:
    """The row's own id; the number of its line where it has none, or null."""
    return str(line_number if row.get("id") is None else row["id"])


def _mark_columns(
    row: dict[str, object], names: Sequence[str], evidence: str | None, columns: Columns | None
) -> list[MarkColumn]:
    """The fields of the marks in each text: the named one, else our own, else the recognised one."""
    recognised = {column.segment: column for column in columns.marks} if columns is not None else {}
    fields = []
    for segment, name in enumerate(names):
        field, column = evidence_field(name), recognised.get(segment)
        if segment == 0 and evidence is not None:
            row[evidence]  # a row without the field that was named is a bad row
            field = evidence
        is_read = column is not None and (column.name == field or (field not in row and evidence is None))
        fields.append(column if column is not None and is_read else MarkColumn(field, segment))
    return fields


def _of_anyone(example: Example, annotators: Sequence[Sequence[Rationale]]) -> tuple[Rationale, ...]:
    """What any annotator marked, as the rationale of a row that has no evidence of its own."""
    rationales: list[Rationale] = []
    for segment, text in enumerate(example.segments):
        votes = [[False] * len(text) for _ in annotators]
        for vote, marks in zip(votes, annotators, strict=True):
            for mark in marks:
                if mark.segment == segment:
                    vote[mark.start : mark.end] = [True] * (mark.end - mark.start)
        rationales += agreed_rationales(text, votes, "union", segment)
    return tuple(rationales)


def _present(row: dict[str, object], columns: Columns | None) -> tuple[str, ...]:
    """The recognised fields of the texts; raises `ValueError` where the row lacks them."""
    if columns is None or not all(name in row for name in columns.texts):
        raise ValueError(no_text_column(list(row)))
    return columns.texts


def _recognised_label(row: dict[str, object], columns: Columns | None, texts: tuple[str, ...]) -> str | None:
    label = columns.label if columns else None
    return label if label in row and label not in texts else None


def _label(label: object) -> str | None:
    """A label as a word; several labels, in a list, as words with commas between them; None where there is none, which
    NaN and "" say too.
    """
    if isinstance(label, list) and all(isinstance(name, str) for name in label):
        return ", ".join(label)
    if isinstance(label, str):
        return label or None
    if label is None or label != label:
        return None
    if isinstance(label, float) and label.is_integer():
        return str(int(label))  # what a table with missing labels makes of 1
    if isinstance(label, int | float):
        return str(label)
    raise ValueError(f"the label {label!r} is no word, number or list of words")
