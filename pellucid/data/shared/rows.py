"""Texts with [[marked]] evidence, as an author types them: the form of our own corpus's files."""

import bz2
import gzip
from codecs import BOM_UTF8
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from itertools import zip_longest
from json import JSONDecodeError
from pathlib import Path
from typing import TextIO, TypeVar

from pellucid.base.checks import clipped, in_syntax, listed, one_of, quoted
from pellucid.base.errors import BadFile, BadSetting, Notice, notify
from pellucid.base.files import disk_errors
from pellucid.text.example import Example, Rationale
from pellucid.text.lexicon import Concept

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


# Texts in two languages, line by line: two files of which the same lines belong together.

Line = tuple[int, str]  # its number in the file, and its text


def aligned(
    source: Path, target: Path, sources: Iterable[Line], targets: Iterable[Line]
) -> Iterator[tuple[int, list[str]]]:
    """(line of the source, both texts) of the lines of two files; raises `BadFile`, with both numbers, where one has
    more of them.
    """
    pairs = iter(zip_longest(sources, targets))
    counts = [0, 0]
    for source_line, target_line in pairs:
        counts = [counts[0] + (source_line is not None), counts[1] + (target_line is not None)]
        if source_line is None or target_line is None:
            for more, another in pairs:
                counts = [counts[0] + (more is not None), counts[1] + (another is not None)]
            raise BadFile(
                f"{source} has {counts[0]:,} texts and {target} {counts[1]:,}; of aligned files each line has its "
                f"translation in the other."
            )
        yield source_line[0], [source_line[1], target_line[1]]


def pair_of(texts: list[str], languages: tuple[str, str], id: str, **meta: object) -> list[Example]:
    """A pair as an example; raises `ValueError` for an empty side."""
    if len(texts) != len(languages):
        raise ValueError(f"it has {len(texts)} fields; {languages[0]} and {languages[1]} are due")
    stripped = tuple(text.strip() for text in texts)
    for text, language in zip(stripped, languages, strict=True):
        if not text:
            raise ValueError(f"its {language} is empty")
    return [Example(stripped, id=id, meta=dict(meta))]


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


# What readers of large knowledge bases share: numbered lines, and concepts that must be there.


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", encoding="utf-8")
    return bz2.open(path, "rt", encoding="utf-8") if path.suffix == ".bz2" else path.open(encoding="utf-8")


def numbered_lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, line) of a UTF-8 file, also of one that gzip or bzip2 packed; empty lines are passed over.

    Raises `BadFile` for a file that is missing, of another encoding or cut off.
    """
    line_number = 0
    with disk_errors("read", path):
        try:
            with _opened(path) as file:
                for line_number, line in enumerate(file, 1):
                    if line.strip():
                        yield line_number, line.rstrip("\r\n")
        except (UnicodeDecodeError, EOFError):
            raise BadFile(
                f"{path} cannot be read after line {line_number}: it is not UTF-8 text, or is cut off."
            ) from None


def named_or_refused(path: Path, words: Mapping[str, Sequence[str]], most: int) -> list[Concept]:
    """A concept for each name with the first of its words; raises `BadFile` where a name has none."""
    empty = [name for name, of_name in words.items() if not of_name]
    if empty:
        raise BadFile(f"{path} has no words of {listed(map(quoted, empty))}; give names as the file writes them.")
    return [Concept(name, tuple(of_name[:most])) for name, of_name in words.items()]
