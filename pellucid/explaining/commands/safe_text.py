"""Printing sentences that quote text from elsewhere: control characters in it cannot reach the terminal."""

import sys
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from pellucid.drawing.html import plain


def say(sentence: str, *, aside: bool = False) -> None:
    """Print a line; aside: to standard error instead of among the results."""
    print(plain(sentence), file=sys.stderr if aside else sys.stdout)


# How commands print a list: for each entry its name, what it does, and its facts, one below the other.


def print_entry(entry: Mapping[str, Any], facts: Mapping[str, str]) -> None:
    """Print one entry with its facts; empty facts are left out."""
    console = Console(width=min(100, Console().width))
    console.print(Text(entry["name"], style="bold"))
    lines = [Text.assemble((f"{name}: ", "dim"), value) for name, value in facts.items() if value]
    for line in (Text(entry["summary"]), *lines):
        console.print(Padding(line, (0, 0, 0, 4)))
    console.print()


def settings_in_words(entry: Mapping[str, Any]) -> str:
    """An entry's settings with their default values."""
    return ", ".join(f"{name}={value}" for name, value in entry["settings"].items()) or "none"
