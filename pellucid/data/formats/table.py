"""Tables: CSV or TSV whose first line names the columns."""

from collections.abc import Iterator
from pathlib import Path

from pellucid.base.kinds import formats
from pellucid.data.shared.columns import say_how_read
from pellucid.data.shared.delimited import (
    IN_WORDS,
    comma_records,
    delimiter_of,
    tab_records,
    usual_delimiter,
    with_header,
    without_declaration,
)
from pellucid.data.shared.encoding import checked_encoding, encoding_in_words, encoding_of
from pellucid.data.shared.part_files import PARTS, part_file
from pellucid.data.shared.rows import ReadRow
from pellucid.data.shared.table_rows import table_rows

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
    encoding: str | None = None,
    quotes: bool = True,
) -> Iterator[ReadRow]:
    """A CSV or TSV file with a header; other columns become each example's meta.

    text, second, label, id: the columns; by default those with usual names, else by their content. delimiter: what separates
    the fields; by default the comma, semicolon, tab or bar that fits. encoding: such as cp1250; by default UTF-8, UTF-16, or
    Windows-1252 where nothing else can be meant. quotes: whether quotes may surround a field. A warning says what was
    recognised.
    """
    file = part_file(path, split, FILES)
    codec = encoding_of(file) if encoding is None else checked_encoding(encoding)
    sign = delimiter_of(file, codec) if delimiter is None else delimiter
    records: Iterator = comma_records(file, sign, codec) if quotes else tab_records(file, sign, codec)
    names, records = with_header(file, without_declaration(records))
    rows = table_rows(file, names, records, wanted=(text, second, label, id), comma_free=sign != ",")
    say_how_read(
        file.name, _form(file, sign, codec, (delimiter, encoding), rows.decimal_commas), rows.columns
    )
    yield from rows.examples()


def _form(
    file: Path, sign: str, codec: str, named: tuple[str | None, str | None], decimal_commas: bool
) -> str:
    """What is unusual of the file and was not named by the user; empty where nothing is."""
    delimiter, encoding = named
    between = (
        ""
        if delimiter or sign == usual_delimiter(file)
        else f"a table with {IN_WORDS.get(sign, sign)} between fields"
    )
    words = "" if encoding else encoding_in_words(codec)
    numbers = "labels with decimal commas" if decimal_commas else ""
    parts = [part for part in (between or ((words or numbers) and "a table"), words, numbers) if part]
    return ", ".join(parts).replace("a table, ", "a table in ", 1) if words else ", ".join(parts)
