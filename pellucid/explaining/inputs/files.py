"""Examples from a string or a path: a text, a data set's name, a file or a folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pellucid.base.errors import BadInput
from pellucid.base.files import possible_path
from pellucid.base.kinds import datasets
from pellucid.base.wording import quoted
from pellucid.data.load import load_examples
from pellucid.explaining.inputs.readings import ReadingRequest, notify_reading
from pellucid.text.example import Example, prompted

ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".parquet", ".gz", ".xlsx", ".arrow")
LONGEST_PATH = 1024  # characters


def examples_from_string(text: str, reading: ReadingRequest) -> tuple[Example, ...]:
    """One text; where the door expects data, the data of that name. What could be both is refused with both ways."""
    text = str(text)
    if reading.names_data and (_names_something(text) or not _has_blanks(text)):
        examples = examples_from_path(text, reading)
        notify_reading(
            f"Read {quoted(text)} as the data of that name ({len(examples):,} texts); write [{quoted(text)}] for the text "
            "itself."
        )
        return examples
    if _names_something(text):
        kind, way = _what_it_names(text)
        raise BadInput(
            f"{quoted(text)} is {kind}. Write {way} for its texts, or [{quoted(text)}] for the text itself."
        )
    if looks_like_a_file(text):
        raise BadInput(
            f"{quoted(text)} looks like a file, but there is none of that name. Give the right path as pathlib.Path, or "
            f"[{quoted(text)}] for the text itself."
        )
    reading.without_columns(text)
    return (prompted((text,), id="0"),)


def examples_from_path(path: str | Path, reading: ReadingRequest) -> tuple[Example, ...]:
    """The examples of a file, a folder's part or a data set; columns are those that the reading names."""
    possible_path(path)
    return tuple(load_examples(path, reading.split, **columns_as_settings(reading.text, reading.label)))


def columns_as_settings(text: str | Sequence[str] | None, label: str | None) -> dict[str, Any]:
    """The columns that a caller named, as a format's settings; raises `BadSetting` for what is no column."""
    names: dict[str, Any] = dict(
        zip(("text", "second"), ReadingRequest(text, label).text_names, strict=False)
    )
    return names if label is None else names | {"label": str(label)}


def looks_like_a_file(text: str) -> bool:
    """Whether a text is one word that ends as names of data files do."""
    return not _has_blanks(text) and text.lower().endswith(ENDINGS)


def _has_blanks(text: str) -> bool:
    return any(character.isspace() for character in text.strip())


def _names_something(text: str) -> bool:
    return text in datasets.names() or _is_path(text)


def _is_path(text: str) -> bool:
    """Whether a file, or a folder that is written as a path, has this name."""
    if not 0 < len(text) <= LONGEST_PATH or "\n" in text or "\0" in text:
        return False
    try:
        path = Path(text).expanduser()
        return path.is_file() or ("/" in text and path.is_dir())
    except (OSError, RuntimeError, ValueError):  # a name that no file can have, or of nobody
        return False


def _what_it_names(text: str) -> tuple[str, str]:
    """What a string names besides itself, and how to write that."""
    if text in datasets.names():
        return "the name of a data set, and could be a text", f"pellucid.examples({quoted(text)})"
    kind = "a file" if Path(text).expanduser().is_file() else "a folder"
    return f"{kind}, and came where a text stands", f"pathlib.Path({quoted(text)})"
