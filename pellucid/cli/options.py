"""What several commands read alike: texts and examples, settings written as name=value, lists with commas."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.api import ALL
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.errors import BadInput, BadSetting
from pellucid.core.foundation.files import read_text
from pellucid.core.foundation.json_text import parsed
from pellucid.core.text.example import Example, as_examples

FormatOption = Annotated[
    str | None, typer.Option("--format", help="How to read the data; see `pellucid formats`.")
]
ReadOption = Annotated[list[str] | None, typer.Option("--read", help="A setting of the format, name=value.")]
SkipOption = Annotated[
    bool, typer.Option("--skip-bad-rows", help="Leave rows out that cannot be read, and count them.")
]
DATA_ENDINGS = (".jsonl", ".csv", ".tsv")


@dataclass(frozen=True)
class Reading:
    """How the options say that data are read."""

    split: str
    format: str | None
    read: Sequence[str] | None
    skip_bad_rows: bool

    def examples(self, source: str | Path) -> list[Example]:
        """The examples of the part, from a data set by name, a file or a folder."""
        settings = settings_from(self.read or [], "--read")
        return pellucid.examples(source, self.split, self.format, self.skip_bad_rows, **settings)


def texts_from(
    given: Sequence[str], second: str | None, file: Path | None, reading: Reading
) -> tuple[Example, ...]:
    """Examples from arguments, a file (one text a line, or data), or standard input ("-" or nothing)."""
    if second is not None:
        if len(given) != 1 or file is not None:
            raise BadInput("--second makes a pair with exactly one text; give one text and no file.")
        return as_examples([(given[0], second)])
    if file is not None:
        if given:
            raise BadInput("Give texts or --file, not both.")
        return _from_file(file, reading)
    if list(given) in ([], ["-"]):
        if sys.stdin.isatty():
            raise BadInput("There is no text; give one in quotes, --file FILE, or pipe texts in, one a line.")
        return _from_lines(_standard_input(), "standard input")
    return as_examples(given)


def _standard_input() -> str:
    try:
        return sys.stdin.read().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BadInput(f"Standard input is not UTF-8 text (byte {error.start}); convert it first.") from None


def _from_file(file: Path, reading: Reading) -> tuple[Example, ...]:
    """The examples of a data file or folder; another file is plain text, one text a line."""
    data = file.is_dir() or file.name.removesuffix(".gz").endswith(DATA_ENDINGS)
    if reading.format is None and not data:
        return _from_lines(read_text(file), str(file))
    found = tuple(reading.examples(file))
    if not found:
        raise BadInput(f"There is no text in {file}; give one example a line.")
    return found


def _from_lines(text: str, where: str) -> tuple[Example, ...]:
    lines = [line for line in text.split("\n") if line.strip()]
    if not lines:
        raise BadInput(f"There is no text in {where}; give one text a line.")
    return as_examples(lines)


def settings_from(pairs: Sequence[str], option: str = "--set") -> dict[str, Any]:
    """name=value pairs; values are read as JSON where they can be (numbers, true, null), else as words."""
    found = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name:
            raise BadSetting(f"{option} {pair!r} is not name=value; write for example {option} n_steps=64.")
        try:
            found[name.strip()] = parsed(value)
        except ValueError:
            found[name.strip()] = value
    return found


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
    """Methods named with commas, "all" among them, with their settings; those of several are method.setting."""
    names = listed(methods) or []
    held: dict[str, dict[str, Any]] = {name: {} for name in names}
    for written, value in settings.items():
        method, dot, setting = written.partition(".")
        if not dot and (len(names) > 1 or names == [ALL]):
            raise BadSetting(
                f"--set {written} could be of several methods; say of which: --set METHOD.{written}=…"
            )
        method, setting = (method, setting) if dot else (names[0], written)
        if method not in held and ALL not in held:
            raise BadSetting(f"--set {written}: {method} is not among the methods to run ({methods}).")
        held.setdefault(method, {})[setting] = value
    return [(name, given) if given else name for name, given in held.items()]
