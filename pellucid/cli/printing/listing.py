"""How commands print a list: for each entry its name, what it does, and its facts, one below the other."""

from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.text import Text


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
