"""`pellucid checks`: every check of methods that `pellucid compare --checks` can run."""

import json
from typing import Annotated, Any

import typer

import pellucid
from pellucid.cli.options.safe_text import print_entry, settings_in_words

OPTIONS = {
    "twins": "twins (--twin)",
    "trainer": "texts to train on (--train)",
    "corpora": "other data sets (--corpus)",
}


def checks(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the checks of methods: what each asks, needs and costs, and when a method passes."""
    listed = pellucid.checks()
    if as_json:
        print(json.dumps(listed))
        return
    for entry in listed:
        print_entry(entry, _facts(entry))


def _facts(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "needs": ", ".join(OPTIONS.get(need, need) for need in entry["needs"]) or "nothing more",
        "costs": entry["cost"],
        "runs": 'by name; not part of "all"' if entry["long"] else "",
        "rule": entry["rule"],
        "settings": settings_in_words(entry),
        "paper": entry["paper"],
    }
