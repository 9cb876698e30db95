"""`pellucid methods`: what exists, what each needs and costs, and its paper."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import pellucid


def methods(as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False) -> None:
    """List the attribution methods: what each does, needs and costs, its settings and its paper."""
    listed = pellucid.methods()
    if as_json:
        print(json.dumps(listed))
        return
    console = Console(width=min(100, Console().width))
    for entry in listed:
        console.print(Text(entry["name"], style="bold"))
        for line in _lines(entry):
            console.print(Padding(line, (0, 0, 0, 4)))
        console.print()


def _lines(entry: dict[str, Any]) -> list[Text]:
    settings = ", ".join(f"{name}={value}" for name, value in entry["settings"].items())
    facts = {
        "needs": ", ".join(entry["needs"]) or "any model",
        "costs": entry["cost"],
        "settings": settings or "none",
        "paper": entry["paper"],
    }
    return [
        Text(entry["summary"]),
        *(Text.assemble((f"{name}: ", "dim"), value) for name, value in facts.items()),
    ]
