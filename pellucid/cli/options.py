"""Options that several commands share: texts and data, settings written as name=value, lists with commas."""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from pellucid.api import ALL
from pellucid.api.data_source import DataSource
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.files import read_text
from pellucid.core.foundation.json_text import parsed
from pellucid.core.text.example import Example, as_examples

FormatOption = Annotated[
    str | None,
    typer.Option(
        "--format",
        help="The format of the data; `pellucid formats` lists them. Default: recognised by the file's name.",
    ),
]
ReadOption = Annotated[
    list[str] | None, typer.Option("--read", help="A setting of the format: name=value. May be repeated.")
]
SkipOption = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave out rows that cannot be read, and say how many.")
]
DATA_ENDINGS = (".jsonl", ".csv", ".tsv")


def source_from(
    data: str | Path, split: str, *, format_: str | None, read: Sequence[str] | None, skip_bad_rows: bool
) -> DataSource:
    """The data that a command's arguments and options name; read: the settings of --read."""
    return DataSource(data, split, format_, settings_from(read or [], "--read"), skip_bad_rows)


def texts_from(
    texts: Sequence[str], second: str | None, file: Path | None, source: DataSource
) -> tuple[Example, ...]:
    """Examples from arguments, a file (one text a line, or data), or standard input ("-" or nothing).

    source: how the file is read if it is data.
    """
    if second is not None:
        if len(texts) != 1 or file is not None:
            raise BadInput("--second makes a pair with exactly one text; give one text and no file.")
        return as_examples([(texts[0], second)])
    if file is not None:
        if texts:
            raise BadInput("Give texts or --file, not both.")
        return _from_file(file, source)
    if list(texts) in ([], ["-"]):
        if sys.stdin.isatty():
            raise BadInput("There is no text; give one in quotes, --file FILE, or pipe texts in, one a line.")
        return _from_lines(_standard_input(), "standard input")
    return as_examples(texts)


def _standard_input() -> str:
    try:
        return sys.stdin.read().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BadInput(f"Standard input is not UTF-8 text (byte {error.start}); convert it first.") from None


def _from_file(file: Path, source: DataSource) -> tuple[Example, ...]:
    """The examples of a data file or folder; any other file is plain text, one text a line."""
    data = file.is_dir() or file.name.removesuffix(".gz").endswith(DATA_ENDINGS)
    if source.format is None and not data:
        return _from_lines(read_text(file), str(file))
    examples = tuple(source.examples())
    if not examples:
        raise BadInput(f"There is no text in {file}; give one example a line.")
    return examples


def _from_lines(text: str, where: str) -> tuple[Example, ...]:
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise BadInput(f"There is no text in {where}; give one text a line.")
    return as_examples(lines)


def settings_from(pairs: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """Settings from name=value pairs; a value is read as JSON if possible (numbers, true, null), else as text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise BadSetting(f"{option} {pair!r} is not name=value; write for example {option} n_steps=64.")
        try:
            settings[name.strip()] = parsed(value)
        except ValueError:
            settings[name.strip()] = value
    return settings


def listed(text: str | None) -> list[str] | None:
    """Names separated by commas; None stays None."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    if not names:
        raise BadSetting(
            "A list of names is empty; write names with commas between them, or leave the option away."
        )
    return names


def choices_from(methods: str, settings: Mapping[str, Any]) -> list[Choice]:
    """Methods from names with commas, which may include "all", with their settings; of several methods: method.setting."""
    names = listed(methods) or []
    settings_of: dict[str, dict[str, Any]] = {name: {} for name in names}
    for written, value in settings.items():
        method, dot, setting = written.partition(".")
        if not dot and (len(names) > 1 or names == [ALL]):
            raise BadSetting(
                f"--set {written} could be of several methods; say of which: --set METHOD.{written}=…"
            )
        method, setting = (method, setting) if dot else (names[0], written)
        if method not in settings_of and ALL not in settings_of:
            raise BadSetting(f"--set {written}: {method} is not among the methods to run ({methods}).")
        settings_of.setdefault(method, {})[setting] = value
    return [(name, own) if own else name for name, own in settings_of.items()]
