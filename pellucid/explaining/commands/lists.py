"""The smaller commands: lists of what can be chosen, data as JSON lines, texts with a known reason, and whether a
folder is whole.
"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.base.files import check_outputs
from pellucid.explaining.commands.data_options import Amount, Part, Reading
from pellucid.explaining.commands.model_options import settings_from, with_option_records
from pellucid.explaining.commands.safe_text import print_entry, say, settings_in_words
from pellucid.explaining.select import some_of
from pellucid.text.example import Example


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


# Commands about files: `pellucid convert`, data as JSON lines; `plant`, texts with a known reason;
# `verify`, is a folder whole?


@with_option_records
def convert(
    source: Annotated[str, typer.Argument(help="The name of a data set, a data file, or a folder.")],
    out: Annotated[Path, typer.Argument(help="The file to write: .jsonl or .jsonl.gz.")],
    *,
    part: Part,
    reading: Reading,
    amount: Amount,
    seed: Annotated[int, typer.Option(help="The seed of --sample.")] = 0,
) -> None:
    """Write a part of a data set as JSON lines, the format that every command recognises."""
    check_outputs([out], [source])
    whole = reading.source(source, part.split, label_map=reading.meanings()).examples()
    examples = some_of(whole, limit=amount.limit, sample=amount.sample, seed=seed)
    pellucid.write_json_lines(examples, out)
    say(f"Written: {len(examples)} examples in {out}")


# `pellucid plant REASON`: texts whose label has one known reason, to judge explanations by.


@with_option_records
def plant(
    reason: Annotated[str, typer.Argument(help="The reason: token, token_pair, order, position, span or lexicon.")],
    *,
    out: Annotated[Path, typer.Option(help="The folder to write to: train.jsonl, dev.jsonl and test.jsonl.")],
    on: Annotated[
        str,
        typer.Option(
            help="The texts to plant in: the name of a data set, a data file, or a folder with train, dev and test."
        ),
    ] = "pocket",
    reading: Reading,
    amount: Amount,
    n: Annotated[
        int, typer.Option(min=10, help="How many train texts to make; dev and test have a fifth each.")
    ] = 1000,
    distractor: Annotated[
        float,
        typer.Option(min=0, max=1, help="How often, in train, a decoy word occurs with its label, 0 to 1."),
    ] = 0.9,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the reason: name=value. May be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of all draws, --sample included.")] = 0,
) -> None:
    """Make texts whose label has one known reason, with decoy words that often occur with a label and do not decide
    it.
    """
    parts = pellucid.plant(
        reason,
        _carriers(on, reading, amount, seed),
        out=out,
        n=n,
        distractor=distractor,
        seed=seed,
        **settings_from(set_ or []),  # type: ignore[arg-type]
    )
    sizes = ", ".join(f"{len(examples)} {part}" for part, examples in parts.items())
    say(f"Planted {reason} in {on}: {sizes} texts in {out}")
    say(f"Train on it: pellucid train {out} --out MODEL")
    say(
        f'Then ask whether it was learnt: pellucid.follows_planted_reason(pellucid.load("MODEL"), '
        f'pellucid.examples("{out}"))'
    )


def _carriers(on: str, reading: Reading, amount: Amount, seed: int) -> str | list[Example]:
    """The texts to plant in: a name or path that is read as it is, or the texts that the options select."""
    if reading == Reading() and amount == Amount():
        return on
    examples = reading.source(on, "all", label_map=reading.meanings()).examples()
    return some_of(examples, limit=amount.limit, sample=amount.sample, seed=seed)


# `pellucid verify FOLDER`: is a folder as the command left it that made it?


DAMAGED = 1  # the exit status where a file is missing or changed


def verify(
    folder: Annotated[Path, typer.Argument(help="What compare, attack, train or another command wrote with --out.")],
    *,
    as_json: Annotated[bool, typer.Option("--json", help="Print the outcome as JSON.")] = False,
) -> None:
    """Say which files of a folder are missing, changed or foreign, by its manifest: without the model, and without
    network.

    Digests find accidents and careless changes, not a forger, who rewrites the manifest too. The exit status is 1 where
    a file is missing or changed. Foreign files are listed and are no failure.
    """
    outcome = pellucid.verify(folder)
    if as_json:
        print(json.dumps(outcome.record()))
    else:
        for line in str(outcome).splitlines():
            say(line)
    if not outcome.is_whole:
        raise typer.Exit(DAMAGED)
