"""What several commands read alike: texts, settings written as name=value, lists written with commas."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pellucid.core.errors import BadInput, BadSetting
from pellucid.core.example import Example, as_examples
from pellucid.core.files import read_text
from pellucid.datasets.json_lines import read_json_lines


def texts_from(given: Sequence[str], second: str | None, file: Path | None) -> tuple[Example, ...]:
    """Examples from arguments, a file (one text a line, or JSON lines), or standard input ("-" or nothing)."""
    if second is not None:
        if len(given) != 1 or file is not None:
            raise BadInput("--second makes a pair with exactly one text; give one text and no file.")
        return as_examples([(given[0], second)])
    if file is not None:
        if given:
            raise BadInput("Give texts or --file, not both.")
        return _from_file(file)
    if list(given) in ([], ["-"]):
        if sys.stdin.isatty():
            raise BadInput("There is no text; give one in quotes, --file FILE, or pipe texts in, one a line.")
        return _from_lines(_standard_input(), "standard input")
    return as_examples(given)


def _standard_input() -> str:
    try:
        return sys.stdin.read()
    except UnicodeDecodeError as error:
        raise BadInput(f"Standard input is not UTF-8 text (byte {error.start}); convert it first.") from None


def _from_file(file: Path) -> tuple[Example, ...]:
    if file.suffix == ".jsonl" or file.name.endswith(".jsonl.gz"):
        found = tuple(read_json_lines(file))
        if not found:
            raise BadInput(f"There is no text in {file}; give one example a line.")
        return found
    return _from_lines(read_text(file), str(file))


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
            found[name.strip()] = json.loads(value)
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
