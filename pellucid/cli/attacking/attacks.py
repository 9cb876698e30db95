"""`pellucid attacks`: every attack, what it edits and needs, and where it was published."""

import json
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options.safe_text import print_entry, settings_in_words


def attacks(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the attacks: what each edits and needs, its parts and its source."""
    entries = pellucid.attack_list()
    if as_json:
        print(json.dumps(entries))
        return
    for entry in entries:
        facts = {
            "edits": f"{entry['unit']}s",
            "needs": ", ".join(entry["needs"]) or "any model",
            "order": entry["order"],
            "candidates": ", ".join(entry["candidates"]),
            "settings": settings_in_words(entry),
            "source": entry["source"],
        }
        print_entry(entry, facts)
