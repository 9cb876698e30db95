"""`pellucid formats`: how data can be read, from which files, with which settings."""

import json
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

import pellucid


def formats(as_json: Annotated[bool, typer.Option("--json", help="Print them as JSON.")] = False) -> None:
    """List the formats of data: what each holds, its files, its settings (for --read) and its paper."""
    listed = pellucid.formats()
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
        "files": entry["files"],
        "holds": entry["data"] + (", with people's rationales" if entry["rationales"] else ""),
        "dev": "" if entry["own_dev"] else "15 % of train, which then lacks them",
        "settings": settings or "none",
        "needs": f"the package {entry['package']}" if entry["package"] else "",
        "paper": entry["paper"],
    }
    return [
        Text(entry["summary"]),
        *(Text.assemble((f"{name}: ", "dim"), value) for name, value in facts.items() if value),
    ]
