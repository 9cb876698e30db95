"""Tables: CSV or TSV whose first line names the columns."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.kinds import formats
from pellucid.core.text.example import Example
from pellucid.datasets.shared.delimited import comma_records, named, tab_records, with_header
from pellucid.datasets.shared.fields import label_field, text_fields
from pellucid.datasets.shared.part_files import PARTS, part_file, row_id
from pellucid.datasets.shared.rows import ReadRow, read_rows

FILES = {part: (f"{part}.csv", f"{part}.tsv") for part in PARTS}


@formats.add(reads="one .csv or .tsv file, or one a part", data="any")
def table(
    path: Path,
    split: str,
    *,
    text: str | None = None,
    second: str | None = None,
    label: str | None = None,
    id: str | None = None,
    delimiter: str | None = None,
    quotes: bool = True,
) -> Iterator[ReadRow]:
    """A CSV or TSV file with a header; other columns become each example's meta.

    text, second, label, id: the columns, where they have unusual names. delimiter: what separates the fields; by
    default a tab in .tsv files, else a comma. quotes: whether quotes may surround a field.
    """
    file = part_file(path, split, FILES)
    if delimiter is None:
        delimiter = "\t" if ".tsv" in file.name else ","
    records: Iterator = comma_records(file, delimiter) if quotes else tab_records(file, delimiter)
    columns, records = with_header(file, records)
    try:
        texts = text_fields(columns, text, second)
    except ValueError as error:
        raise BadFile(f"{file}: {error}; its columns are: {', '.join(columns)}.") from None
    labelled = label_field(columns, label)
    make = partial(_example, file=file, columns=columns, texts=texts, label=labelled, id=id)
    yield from read_rows(file, records, make)


def _example(
    fields: list[str],
    line: int,
    *,
    file: Path,
    columns: list[str],
    texts: tuple[str, ...],
    label: str | None,
    id: str | None,
) -> list[Example]:
    row = named(columns, fields)
    named_id = id or ("id" if "id" in row else None)
    used = {*texts, label, named_id}
    return [
        Example(
            tuple(row[name] for name in texts),
            (row[label] or None) if label else None,
            (),
            row[named_id] if named_id else row_id(file, line),
            {name: value for name, value in row.items() if name not in used},
        )
    ]
