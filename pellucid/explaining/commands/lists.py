"""The commands that list what can be chosen: `pellucid methods`, `formats`, `checks` and `attacks`."""

import json
from typing import Annotated, Any

import typer

import pellucid
from pellucid.explaining.commands.bibtex import bibliography, sources_in
from pellucid.explaining.commands.safe_text import print_entry, say, settings_in_words


def methods(
    routes: Annotated[
        bool, typer.Option("--routes", help="List the routes of a pass instead: how models can be computed.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
    bibtex: Annotated[
        bool, typer.Option("--bibtex", help="Print the papers of methods and checks as BibTeX instead.")
    ] = False,
) -> None:
    """List the attribution methods: what each does, needs and costs, its settings and its paper."""
    if bibtex:
        say(bibliography(sources_in([*pellucid.methods(), *pellucid.checks()])))
        return
    listed = pellucid.routes() if routes else pellucid.methods()
    if as_json:
        print(json.dumps(listed))
        return
    for entry in listed:
        print_entry(entry, _facts_of_route(entry) if routes else _facts_of_method(entry))


def _facts_of_method(entry: dict[str, Any]) -> dict[str, str]:
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


# `pellucid formats`: how data can be read, from which files, with which settings.


def formats(as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False) -> None:
    """List the data formats: what each contains, its files, its settings (for --read) and its paper."""
    listed = pellucid.formats()
    if as_json:
        print(json.dumps(listed))
        return
    for entry in listed:
        print_entry(entry, _facts_of_format(entry))


def _facts_of_format(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "files": entry["files"],
        "holds": entry["data"] + (", with people's rationales" if entry["rationales"] else ""),
        "dev": "" if entry["own_dev"] else "15 % of train, which then lacks them",
        "settings": settings_in_words(entry),
        "needs": f"the package {entry['package']}" if entry["package"] else "",
        "paper": entry["paper"],
    }


# `pellucid checks`: every check of methods that `pellucid compare --checks` can run.

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
        print_entry(entry, _facts_of_check(entry))


def _facts_of_check(entry: dict[str, Any]) -> dict[str, str]:
    return {
        "needs": ", ".join(OPTIONS.get(need, need) for need in entry["needs"]) or "nothing more",
        "costs": entry["cost"],
        "runs": 'by name; not part of "all"' if entry["long"] else "",
        "rule": entry["rule"],
        "settings": settings_in_words(entry),
        "paper": entry["paper"],
    }


# `pellucid attacks`: every attack, what it edits and needs, and where it was published.


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
