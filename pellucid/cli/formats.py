"""`pellucid formats`: how data can be read, from which files, with which settings."""

import json
from typing import Annotated, Any

import typer

import pellucid
from pellucid.cli.options.safe_text import print_entry, settings_in_words


def formats(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the data formats: what each contains, its files, its settings (for --read) and its paper."""
    listed = pellucid.formats()
    if as_json:
        print(json.dumps(listed))
        return
    for entry in listed:
        print_entry(entry, _facts(entry))


def _facts(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "files": entry["files"],
        "holds": entry["data"] + (", with people's rationales" if entry["rationales"] else ""),
        "dev": "" if entry["own_dev"] else "15 % of train, which then lacks them",
        "settings": settings_in_words(entry),
        "needs": f"the package {entry['package']}" if entry["package"] else "",
        "paper": entry["paper"],
    }
