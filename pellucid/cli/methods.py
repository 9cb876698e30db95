"""`pellucid methods`: every attribution method, what it needs and costs, and its paper."""

import json
from typing import Annotated, Any

import typer

import pellucid
from pellucid.cli.options.safe_text import print_entry, settings_in_words


def methods(
    routes: Annotated[
        bool, typer.Option("--routes", help="List the routes of a pass instead: how models can be computed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """List the attribution methods: what each does, needs and costs, its settings and its paper."""
    listed = pellucid.routes() if routes else pellucid.methods()
    if as_json:
        print(json.dumps(listed))
        return
    for entry in listed:
        print_entry(entry, _facts_of_route(entry) if routes else _facts(entry))


def _facts(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "needs": ", ".join(entry["needs"]) or "any model",
        "costs": entry["cost"],
        "runs": "" if entry["usual"] else 'by name; not part of "all methods"',
        "settings": settings_in_words(entry),
        "paper": entry["paper"],
    }


def _facts_of_route(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "computes on": ", ".join(entry["devices"]) or "any device",
        "here": f"not possible: {entry['lacks']}" if entry["lacks"] else "possible",
    }
