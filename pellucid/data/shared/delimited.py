"""Text files: their encoding, and the fields of their lines."""

import codecs
import csv
import gzip
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO

from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.files import disk_errors
from pellucid.data.shared.part_files import filled_lines, held_out, lines, part_file, row_id
from pellucid.data.shared.rows import ReadRow, label_of, read_rows
from pellucid.text.example import Example, is_utf8

UTF_8 = "utf-8-sig"
MARKS = (  # the byte order marks; that of UTF-32 begins as UTF-16's does
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF8, UTF_8),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
NAMES = {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "cp1252": "Windows-1252 (Western European)"}
HEAD, CHUNK = 4096, 1 << 20
TWO_BYTES = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
# What cp1252 has besides letters and that stands in ordinary prose.
SIGNS = set("€‚„…‘’“”•–—™ ¡¢£§©ª«®°´·º»¿‹›")
# The letters of one language besides a to z, and those of common loan words. Other languages' texts, read as cp1252,
# show letters of several of these at once, or signs between letters.
LANGUAGES = tuple(
    set(letters + letters.upper() + "éèàñïç")
    for letters in (
        "äöüß",
        "àâæçéèêëîïôœùûüÿ",
        "áéíñóúü",
        "àèéìíîòóùú",
        "áâãàçéêíóôõú",
        "äëéïöüó",
        "åäöæø",
        "àéèíïóòúüç",
    )
)


def encoding_of(path: Path) -> str:
    """The codec to read a file with; UTF-8 also for a file of mixed bytes, whose rows are then bad ones.

    The file is read once to its end. "cp1252" is returned only where no byte belongs to UTF-8, every byte is a letter
    or a usual sign, and all letters are of one western language.
    """
    with disk_errors("read", path), _opened(path) as file:
        try:
            head = file.read(HEAD)
            marked = next((codec for mark, codec in MARKS if head.startswith(mark)), None)
            if marked or (wide := _wide(head)):
                return marked or wide
            if _is_utf8(head, file):
                return UTF_8
            file.seek(0)
            return "cp1252" if _is_western(iter(lambda: file.read(CHUNK), b"")) else UTF_8
        except EOFError:
            return UTF_8  # a broken archive, which reading reports


def encoding_in_words(codec: str) -> str:
    """An encoding's usual name; empty for UTF-8, which goes without saying."""
    return "" if codec == UTF_8 else NAMES.get(codec, codec.upper())


def checked_encoding(name: str) -> str:
    """The name, if a codec for text is called that; else raises `BadSetting`."""
    try:
        "a".encode(name).decode(name)
    except (LookupError, ValueError, TypeError, UnicodeError):
        raise BadSetting(f"encoding={name!r} is not known; give for example utf-8, utf-16, cp1252 or cp1250.") from None
    return name


def _opened(path: Path) -> IO[bytes]:
    if not path.is_file():
        raise BadFile(f"There is no file {path}.")
    return gzip.open(path) if path.suffix.lower() == ".gz" else path.open("rb")  # type: ignore[return-value]


def _wide(head: bytes) -> str:
    """UTF-16 without a mark: of letters as in ASCII every second byte is zero."""
    even, odd = head[0::2].count(0), head[1::2].count(0)
    half = len(head) // 2
    if half > 1 and odd > 0.4 * half and even < 0.05 * half:
        return "utf-16-le"
    return "utf-16-be" if half > 1 and even > 0.4 * half and odd < 0.05 * half else ""


def _is_utf8(head: bytes, file: IO[bytes]) -> bool:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(head)
        while chunk := file.read(CHUNK):
            decoder.decode(chunk)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _is_western(chunks: Iterator[bytes]) -> bool:
    seen: set[str] = set()
    for chunk in chunks:
        if TWO_BYTES.search(chunk):
            return False
        try:
            seen |= set(chunk.translate(None, bytes(range(128))).decode("cp1252"))
        except UnicodeDecodeError:
            return False
    letters = seen - SIGNS
    return bool(seen) and any(letters <= alphabet for alphabet in LANGUAGES)


# Records of files with commas or tabs. A record may have several lines; its number is that of its first line.

Record = list[str] | ValueError
LONGEST = 2**31 - 1


def comma_records(path: Path, delimiter: str = ",", encoding: str = UTF_8) -> Iterator[tuple[int, Record]]:
    """(first line, fields) of each record with quoted fields; a `ValueError` in place of fields where quotes do not
    match.
    """
    # Strict: a quote in the wrong place is an error. By default the reader would change the text silently.
    reader = csv.reader(lines(path, encoding, newline=""), delimiter=delimiter, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            with _long_fields():
                fields = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, ValueError(f"its quotes do not match ({error})")
        else:
            if fields:
                yield line, fields


@contextmanager
def _long_fields() -> Iterator[None]:
    """The limit on a field's length holds for the whole process and is too short for books: lift it for one record."""
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def tab_records(path: Path, delimiter: str = "\t", encoding: str = UTF_8) -> Iterator[tuple[int, list[str]]]:
    """(line, fields) of each line that is not blank, split at tabs; quotes are part of the text."""
    for line_number, line in filled_lines(path, encoding):
        yield line_number, line.split(delimiter)


def with_header(path: Path, records: Iterator[tuple[int, Record]]) -> tuple[list[str], Iterator]:
    """The column names (the first record), and the records after it; raises `BadFile` where there is no header."""
    first = next(records, None)
    if first is None or isinstance(first[1], ValueError):
        raise BadFile(f"{path} has no header; its first line must name the columns.")
    names = first[1]
    if not all(map(is_utf8, names)):
        raise BadFile(f"The names of the columns of {path} are not UTF-8 text; convert the file first.")
    check_named_once(path, names)
    return names, records


def check_named_once(path: Path, names: list[str]) -> None:
    """Raise `BadFile` where two columns have one name, since only one of them could be read."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise BadFile(
            f"{path} has several columns called {listed(map(quoted, twice))}; give each column a name of its own."
        )


def named(names: list[str], fields: list[str]) -> dict[str, str]:
    """Column name -> field; raises `ValueError` when there are not as many fields as columns."""
    if len(fields) != len(names):
        raise ValueError(f"it has {len(fields)} fields, the header {len(names)}")
    return dict(zip(names, fields, strict=True))


def needs(path: Path, names: list[str], wanted: tuple[str, ...]) -> None:
    """Raise `BadFile` when a file lacks a column that its format has."""
    missing = [name for name in wanted if name not in names]
    if missing:
        raise BadFile(f"{path} has no column {', '.join(missing)}; its columns are: {', '.join(names)}.")


# What separates the fields of a table: the sign that gives the header several names and the rows as many fields.

CANDIDATES = (",", ";", "\t", "|")
IN_WORDS = {"\t": "tabs", ",": "','", ";": "';'", "|": "'|'"}
SAMPLE_OF_LINES = 200  # lines
DECLARED = re.compile(r"sep=(.)\s*")  # a first line of spreadsheets, which names the sign


def usual_delimiter(path: Path) -> str:
    """What a file of this name should have: tabs in .tsv files, else commas."""
    return "\t" if ".tsv" in path.name else ","


def delimiter_of(path: Path, encoding: str) -> str:
    """The sign between fields; the usual one where the header has one field only, or where several fit equally well."""
    sample = list(islice(lines(path, encoding, newline=""), SAMPLE_OF_LINES))
    if sample and (declared := DECLARED.fullmatch(sample[0])):
        return declared[1]
    usual = usual_delimiter(path)
    fits = {sign: _fit(sample, sign) for sign in (usual, *CANDIDATES)}  # the usual one first: it wins ties
    best = max(fits, key=lambda sign: fits[sign])
    return best if fits[best] > 0 else usual


def without_declaration(records: Iterator) -> Iterator:
    """The records but for a first line `sep=;`, which names the sign between fields."""
    for index, record in enumerate(records):
        fields = record[1]
        if index == 0 and isinstance(fields, list) and fields[0].startswith("sep=") and not "".join(fields[1:]):
            continue
        yield record


def _fit(sample: list[str], sign: str) -> float:
    """The share of records with as many fields as the header; 0 where the header is one field."""
    try:
        records = [record for record in csv.reader(sample, delimiter=sign) if record]
    except csv.Error:  # a field longer than the reader's limit
        records = [line.split(sign) for line in sample if line.strip()]
    if not records or len(records[0]) < 2:
        return 0.0
    width = len(records[0])
    return sum(len(record) == width for record in records) / len(records)


# CSV without header: the number of the class, then one or more texts, all in quotes.
#
# Zhang, Zhao & LeCun (2015), "Character-level Convolutional Networks for Text Classification", whose eight data sets
# have this form.

FILES = {"train": ("train.csv",), "dev": ("train.csv",), "test": ("test.csv",)}


def numbered_csv(
    path: Path, split: str, names: Sequence[str], n_texts: int, unescape: Callable[[str], str]
) -> Iterator[ReadRow]:
    """The examples of a part.

    names: of the classes, from number 1 on. n_texts: texts in a row; they become one text, a line each. unescape: what
    turns a field as it is written into its text.
    """
    file = part_file(path, split, FILES)
    labels = {str(class_number): name for class_number, name in enumerate(names, start=1)}
    make = partial(_example, file=file, labels=labels, n_texts=n_texts, unescape=unescape)
    yield from held_out(read_rows(file, comma_records(file), make), path, split)


def _example(
    fields: list[str],
    line: int,
    *,
    file: Path,
    labels: dict[str, str],
    n_texts: int,
    unescape: Callable[[str], str],
) -> list[Example]:
    if len(fields) != n_texts + 1:
        raise ValueError(f"it has {len(fields)} fields; a class number and {n_texts} more are due")
    text = "\n".join(part for part in map(unescape, fields[1:]) if part.strip())
    return [Example((text,), label_of(fields[0].strip(), labels), (), row_id(file, line))]


def with_line_breaks(text: str) -> str:
    r"""A text whose line breaks are written \n and whose quotes are written \", as in Yelp and Yahoo! Answers."""
    return text.replace("\\n", "\n").replace('\\"', '"')
