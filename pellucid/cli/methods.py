"""`pellucid methods`: every attribution method, what it needs and costs, and its paper."""

import json
from typing import Annotated, Any

import typer

import pellucid
from pellucid.cli.printing.listing import print_entry, settings_in_words


def methods(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the attribution methods: what each does, needs and costs, its settings and its paper."""
    listed = pellucid.methods()
    if as_json:
        print(json.dumps(listed))
        return
    for entry in listed:
        print_entry(entry, _facts(entry))


def _facts(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "needs": ", ".join(entry["needs"]) or "any model",
        "costs": entry["cost"],
        "runs": "" if entry["usual"] else 'by name; not part of "all methods"',
        "settings": settings_in_words(entry),
        "paper": entry["paper"],
    }
