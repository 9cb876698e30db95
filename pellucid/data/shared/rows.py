"""Rows of data as examples, bad rows, and the marks of people: in the text, in a column, of several annotators."""

import re
from ast import literal_eval
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from json import JSONDecodeError
from pathlib import Path
from typing import Any, TypeVar

from pellucid.base.checks import clipped, in_syntax, known, listed, one_of, quoted
from pellucid.base.errors import BadFile, BadSetting, Notice, notify
from pellucid.base.files import disk_errors
from pellucid.base.json_text import parsed
from pellucid.text.example import Example, Rationale

# Texts with [[marked]] evidence, as an author types them: the form of our own corpus's files.

OPEN, CLOSE = "[[", "]]"


def unmark(marked: str, segment: int = 0) -> tuple[str, list[Rationale]]:
    """The plain text, and where its [[...]] parts lie; raises `ValueError` when brackets do not match."""
    text, rationales = "", []
    head, *marked_parts = marked.split(OPEN)
    if CLOSE in head:
        raise ValueError(f"{CLOSE} without {OPEN}")
    text += head
    for part in marked_parts:
        evidence, close, after = part.partition(CLOSE)
        if not close or CLOSE in after:
            raise ValueError(f"{OPEN} without {CLOSE}, or {CLOSE} without {OPEN}")
        rationales.append(Rationale(segment, len(text), len(text) + len(evidence)))
        text += evidence + after
    return text, rationales


# Marks in a row of data: which characters of its text people marked, in the forms that data have.

MARKS = ("evidence", "rationale", "span", "evidences", "rationales", "spans")  # usual names of their columns
FORMS = "write [[start, end], …], characters of the text, or parts of the text"


class SeveralPlaces(ValueError):
    """A part of a text stands in it more than once."""


def marks_in(value: object, text: str, segment: int = 0, characters: bool = False) -> list[Rationale]:
    """The marks that a value names: [start, end], {"start": …, "end": …}, a part of the text, a list of these, a list
    of characters, or one of these as JSON in a string; none for what is missing.

    characters: whether a list of two numbers is two characters, as lists of other lengths are. Raises `ValueError` for
    what names none, `SeveralPlaces` for a part that stands in the text more than once.
    """
    value, numbers = _written(value), whole_numbers(value)
    if not is_filled(value):
        return []
    if numbers and (characters or len(numbers) != 2):
        return [Rationale(segment, *run) for run in _runs(numbers)]
    members = value if isinstance(value, list | tuple) and not numbers else [value]
    return [Rationale(segment, *place) for member in members for place in _places(member, text)]


def is_filled(value: object) -> bool:
    """Whether a value is none of those that say that one is missing: None, not-a-number, ""."""
    return value is not None and value == value and value != ""


def whole_numbers(value: object) -> Sequence[int]:
    """The whole numbers that a value, or what it holds as JSON, is a list of; empty for all else."""
    value = _written(value)
    is_list = isinstance(value, list | tuple) and all(type(member) is int for member in value)
    return value if is_list else ()  # type: ignore[return-value]


def _written(value: object) -> object:
    """A value as lists, objects, numbers and strings; of a string what it holds, as JSON or Python writes them."""
    if callable(as_list := getattr(value, "tolist", None)):
        return as_list()
    if not isinstance(value, str) or value.strip()[:1] not in ("[", "{", "("):
        return value
    for read in (parsed, literal_eval):
        with suppress(ValueError, SyntaxError, RecursionError, MemoryError):
            return read(value.strip())
    return value


def _runs(characters: Sequence[int]) -> list[tuple[int, int]]:
    """[start, end) of each run of neighbours."""
    if len(set(characters)) < len(characters):
        raise ValueError("names a character twice")
    runs: list[tuple[int, int]] = []
    for character in sorted(characters):
        start = runs.pop()[0] if runs and runs[-1][1] == character else character
        runs.append((start, character + 1))
    return runs


def _places(member: object, text: str) -> list[tuple[int, int]]:
    """[start, end) of a member of a list of marks; several of an object of two lists."""
    if isinstance(member, str):
        return [_place_of(member, text)]
    if isinstance(member, Mapping):
        starts, ends = whole_numbers(member.get("start")), whole_numbers(member.get("end"))
        if starts and len(starts) == len(ends):
            return list(zip(starts, ends, strict=True))
        member = [member.get("start"), member.get("end")]
    if len(pair := whole_numbers(member)) != 2:
        raise ValueError(f"is no list of marks; {FORMS}")
    return [(pair[0], pair[1])]


def _place_of(part: str, text: str) -> tuple[int, int]:
    """Where a part of the text stands, whatever blanks are between its words."""
    words = r"\s+".join(map(re.escape, part.split()))
    places = [match.span(1) for match in re.finditer(f"(?=({words}))", text)] if words else []
    if not places:
        raise ValueError(f"is no list of marks and no part of the text; {FORMS}")
    if len(places) > 1:
        raise SeveralPlaces("stands in the text more than once; write [start, end], characters of the text")
    return places[0]


# Which columns hold marks: the one that the user names, or those with usual names and with such values.


@dataclass(frozen=True)
class MarkColumn:
    """The column of the marks in one text.

    segment: the text's number. characters: whether a list of two numbers is two characters, as lists of other lengths
    in the column are. unusual: whether the user did not name it and its name is not the usual one.
    """

    name: str
    segment: int = 0
    characters: bool = False
    unusual: bool = False

    def marks(self, row: Mapping[str, Any], segments: Sequence[str]) -> list[Rationale]:
        """The marks of a row; raises `ValueError`, with the value, for what are none."""
        value = row.get(self.name)
        try:
            return marks_in(value, segments[self.segment], self.segment, self.characters)
        except ValueError as error:
            raise ValueError(f"{self.name}={quoted(value)} {error}") from None


def mark_columns(
    names: Sequence[str], rows: Sequence[Mapping[str, Any]], texts: Sequence[str], evidence: str | None
) -> tuple[MarkColumn, ...]:
    """The columns of marks: that which the user names, for the first text; else for each text the first with a usual
    name whose values are marks in at least half of the rows.
    """
    columns = []
    for segment, text in enumerate(texts):
        if evidence is not None and segment == 0:
            known("field", evidence, names)
            columns.append(MarkColumn(evidence, 0, _of_characters(rows, evidence)))
            continue
        alike = [name for usual in usual_names(text, texts) for name in names if plainly(name) == usual]
        if name := next((name for name in alike if name not in texts and _holds_marks(rows, name, text)), None):
            columns.append(MarkColumn(name, segment, _of_characters(rows, name), name != evidence_field(text)))
    return tuple(columns)


def called_as_marks(names: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The columns that have a usual name of marks, with or without that of a text."""
    usual = {*MARKS, *(name for text in texts for name in usual_names(text, texts))}
    return [name for name in names if plainly(name) in usual and name not in texts]


def evidence_field(text: str) -> str:
    """The field of the marks in the text of a field, as our own files call it."""
    return {"text": "evidence", "text_a": "evidence_a", "text_b": "evidence_b"}.get(text, f"evidence_{text}")


def usual_names(text: str, texts: Sequence[str]) -> list[str]:
    """What the columns of marks in this text are called, written plainly."""
    ends = [plainly(text), plainly(text.rpartition("_")[2]), *([""] if len(texts) == 1 else [])]
    return [base + end for base in MARKS for end in ends]


def plainly(name: str) -> str:
    """A name in small letters, without blanks and what joins words."""
    return name.casefold().strip().replace(" ", "").replace("_", "").replace("-", "")


def _of_characters(rows: Sequence[Mapping[str, Any]], name: str) -> bool:
    """Whether some row has a list of numbers that cannot be one start and one end."""
    return any(len(whole_numbers(row.get(name))) not in (0, 2) for row in rows)


def _holds_marks(rows: Sequence[Mapping[str, Any]], name: str, text: str) -> bool:
    """Whether at least half of the filled values are marks of their texts."""
    filled = [row for row in rows if is_filled(row.get(name))]
    return 2 * sum(_is_mark(row[name], str(row.get(text))) for row in filled) >= len(filled)


def _is_mark(value: object, text: str) -> bool:
    try:
        marks_in(value, text)
    except SeveralPlaces:
        return True
    except ValueError:
        return False
    return True


# One rationale from several annotators: what anyone marked, or what most of them marked.

AGREEMENTS = ("union", "majority")


def agreed_rationales(text: str, marked: Sequence[Sequence[bool]], agreement: str, segment: int = 0) -> list[Rationale]:
    """The parts of a text that enough annotators marked.

    marked: for each annotator, whether each character is marked. agreement: "union" needs one annotator, "majority"
    more than half of them. Marked parts with only blanks between them are joined.
    """
    one_of("agreement", agreement, AGREEMENTS)
    enough = 1 if agreement == "union" else len(marked) // 2 + 1
    rationales: list[Rationale] = []
    for position, votes in enumerate(map(sum, zip(*marked, strict=True))):
        if votes < enough or text[position].isspace():
            continue
        if rationales and not text[rationales[-1].end : position].strip():
            rationales[-1] = Rationale(segment, rationales[-1].start, position + 1)
        else:
            rationales.append(Rationale(segment, position, position + 1))
    return rationales


# Reading row by row: each row becomes an example, or a bad row with its file, line and reason.

Record = TypeVar("Record")


@dataclass(frozen=True)
class BadRow:
    """A row that is no example: where its record begins, and why."""

    path: Path
    line: int
    reason: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.reason}"


ReadRow = Example | BadRow  # what reading a row gives


class SkippedRows(Notice):
    """Bad rows were skipped: how many, and the first ones with file, line and reason."""


def read_rows(
    path: Path,
    records: Iterable[tuple[int, Record]],
    make: Callable[[Record, int], list[Example]],
) -> Iterator[ReadRow]:
    """The examples that `make` returns for each numbered record, or a bad row where it raises.

    make: takes a record and its line, and returns one example, several (the phrases of a tree), or none (a pair whose
    annotators did not agree on a label).
    """
    for line, record in records:
        try:
            if isinstance(record, ValueError):  # a record that could not be split into fields
                raise record
            _check_utf8(record)
            examples = make(record, line)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            yield BadRow(path, line, _reason(error))
        else:
            yield from examples


def _check_utf8(record: object) -> None:
    """Raise for bytes that are not UTF-8. `lines` lets them through as lone surrogates, so that the error names their
    row.
    """
    for text in record if isinstance(record, list) else [record]:
        if isinstance(text, str) and not text.isascii():
            text.encode("utf-8")


def _reason(error: Exception) -> str:
    if isinstance(error, UnicodeError):
        return "it is not UTF-8 text; convert the file first, or name a table's encoding, such as " + in_syntax(
            "encoding='cp1250'", "--read encoding=cp1250"
        )
    if isinstance(error, JSONDecodeError):
        return f"it is no JSON: {error.msg} at character {error.colno}"
    if isinstance(error, KeyError):
        return clipped(f"the field {error} is not there")
    return clipped(str(error) or type(error).__name__)


def label_of(value: str, names: dict[str, str]) -> str:
    """The class name of a label as the file writes it; raises `ValueError` for a label that is not among the names."""
    if value not in names:
        raise ValueError(f"the label {value!r} is none of {', '.join(names)}")
    return names[value]


# What is said of classes to be trained that are probably a mistake of the data.

MISSING = frozenset({"nan", "na", "n/a", "null", "none", "<na>", "-", "?"})  # what tables write for no value


class OddClasses(Notice):
    """Classes differ only in case or blanks, or are called as missing values are."""


def say_odd_classes(classes: Iterable[str]) -> None:
    """Warn of classes that are equal but for case and blanks, and of names that tables write where a value is
    missing.
    """
    alike: dict[str, list[str]] = defaultdict(list)
    for name in classes:
        alike[name.strip().casefold()].append(name)
    for names in alike.values():
        if len(names) > 1:
            notify(
                f"{listed(names)} are different classes; if they mean the same, write them alike, or join them by a "
                f"label map.",
                OddClasses,
            )
    missing = MISSING - {"-"} if "+" in alike else MISSING  # then it means negative
    for name in (name for plain, names in alike.items() if plain in missing for name in names):
        notify(
            f"A class is called {name}; if that means that the label is missing, leave those labels empty.",
            OddClasses,
        )


# The rows of some classes alone, of data that have more.


def of_classes(rows: Iterable[ReadRow], classes: str | None) -> Iterator[ReadRow]:
    """The bad rows, and the examples of these classes: names with commas between them; None: all.

    Raises `BadSetting`, after the last row, for a class that no row has.
    """
    if classes is None:
        yield from rows
        return
    names = [name.strip() for name in classes.split(",")]
    seen = dict[str, None]()
    for row in rows:
        if isinstance(row, Example):
            seen.setdefault(str(row.label))
        if not isinstance(row, Example) or row.label in names:
            yield row
    missing = [name for name in names if name not in seen]
    if missing:
        raise BadSetting(
            f"classes={quoted(classes)} is not possible: no row has the label {quoted(missing[0])}; labels there: "
            f"{listed(sorted(seen)) or 'none'}."
        )


# Folders in which every text is a file, and its folder's name the class.

MakeText = Callable[[str, str, Path], list[Example]]  # takes a text, its class and its file


def text_files(folders: dict[str, Path], pattern: str = "*") -> list[tuple[str, Path]]:
    """(class, file) of all files in the classes' folders; the order mixes the classes and is always the same.

    Raises `BadFile` when a folder is missing.
    """
    for folder in folders.values():
        if not folder.is_dir():
            raise BadFile(f"There is no folder {folder}.")
    files = [
        (name, file)
        for name, folder in folders.items()
        for file in folder.glob(pattern)
        if file.is_file() and not file.name.startswith(".")
    ]
    return sorted(files, key=lambda entry: blake2b(f"{entry[0]}/{entry[1].name}".encode()).digest())


def read_text_files(files: list[tuple[str, Path]], encoding: str, make: MakeText) -> Iterator[ReadRow]:
    """The examples that make(text, class, file) returns for each file; a file that it refuses is a bad row at line
    1.
    """
    for label, file in files:
        with disk_errors("read", file):
            text = file.read_bytes().removeprefix(BOM_UTF8).decode(encoding, errors="surrogateescape")
        yield from read_rows(file, [(1, text)], partial(_from_text, make=make, label=label, file=file))


def _from_text(text: str, _: int, *, make: MakeText, label: str, file: Path) -> list[Example]:
    return make(text, label, file)
