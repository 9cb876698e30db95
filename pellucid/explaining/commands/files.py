"""Commands about files: `pellucid figure`, `convert`, `plant` and `verify`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pellucid
from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadFile, BadInput, BadSetting
from pellucid.base.files import check_outputs
from pellucid.explaining.commands.data_options import Amount, Part, Reading
from pellucid.explaining.commands.model_options import settings_from, with_option_records
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:
    from pellucid.results.explanation import Explanation
    from pellucid.results.results import Results
    from pellucid.text.example import Example

NAMED = 5  # ids in a message


def figure(
    results: Annotated[
        str,
        typer.Argument(
            help="Results that `pellucid explain --save` wrote (.parquet or .json), a run's folder or address, a "
            "comparison's folder or table, or what `pellucid layers` or `pellucid attention` wrote with --save or "
            "--out."
        ),
    ],
    *,
    out: Annotated[Path, typer.Option(help="The picture: a name that ends in .svg, .png or .pdf.")],
    kind: Annotated[
        str | None,
        typer.Option(
            help="words (of each class, as bars; the default) or scores (of the strongest words, a dot a text); of "
            "layers: map; of attention: units (of one text, the default) or adversary."
        ),
    ] = None,
    text: Annotated[
        str | None,
        typer.Option(
            help="Draw this text with its coloured words: its id, such as reviews-12. Of layers and of "
            "attention: by its id or its number from 0; the first where none is named."
        ),
    ] = None,
    method: Annotated[str | None, typer.Option(help="The method, where the results are of several methods.")] = None,
    top: Annotated[int | None, typer.Option(help="How many words.")] = None,
    function_words: Annotated[
        bool,
        typer.Option("--function-words", help="Draw function words and punctuation among the words of classes, too."),
    ] = False,
    theme: Annotated[str, typer.Option(help="light or dark.")] = "light",
    width: Annotated[float, typer.Option(help="In inches: 6.3 for a page of A4, 10 for a slide.")] = 6.3,
) -> None:
    """Draw saved results as a picture for a paper or a slide."""
    from pellucid.drawing.canvas import format_of
    from pellucid.explaining.read import of_one_method
    from pellucid.results.results import Results

    format_of(out)
    check_outputs([out], [results])  # reported before the work, not after it
    settings: dict[str, Any] = {"theme": theme, "width": width}
    read = pellucid.read(results)
    if not isinstance(read, Results):
        if top is not None or function_words or method is not None:
            raise BadSetting(
                f"--top, --function-words and --method are about words of classes, and {results} holds "
                f"another result ({type(read).__name__}); leave them away."
            )
        if text is not None:
            settings["text"] = _number_of(_ids(read), text)
        pellucid.figure(read, out, kind=kind, **settings)  # type: ignore[arg-type]
        say(f"Written: {out}", aside=True)
        return
    of_method = of_one_method(read, method)
    if text is not None:
        if top is not None:
            raise BadSetting("--top counts words of classes; leave it away with --text, which draws every word.")
        pellucid.figure(_of_text(of_method, text), out, **settings)
    else:
        of_words = {"top": top, "function_words": function_words or None}
        settings |= {name: value for name, value in of_words.items() if value is not None}
        pellucid.figure(of_method, out, kind=kind or "words", **settings)  # type: ignore[arg-type]
    say(f"Written: {out}", aside=True)


def _of_text(results: Results, id_: str) -> Explanation:
    """The explanation of the text with this id; raises `BadInput` where there is none."""
    for explanation in results:
        if explanation.example.id == id_:
            return explanation
    ids = listed([result.example.id for result in results[:NAMED]])
    raise BadInput(f"--text {quoted(id_)} is the id of no text; the {len(results):,} texts begin with: {ids}.")


def _ids(analysis: object) -> list[str]:
    """The ids of the texts that can be drawn; raises `BadSetting` where a figure shows no single text."""
    if not hasattr(analysis, "text_ids"):
        raise BadSetting(f"--text draws one text; a {type(analysis).__name__} is drawn whole. Leave --text away.")
    return list(analysis.text_ids)


def _number_of(ids: list[str], text: str) -> int:
    """The number of the text with this id, or with this number; raises `BadInput` where there is none."""
    if text in ids:
        return ids.index(text)
    if text.isascii() and text.isdigit() and int(text) < len(ids):
        return int(text)
    raise BadInput(
        f"--text {quoted(text)} is no text of this analysis; give its number, 0 to {len(ids) - 1}, or its id; the ids "
        f"begin with: {listed(ids[:NAMED])}."
    )


# `pellucid report RESULTS`: saved results as a page; `pellucid save RESULTS FILE`: as a file of another form.

SavedResults = Annotated[
    str,
    typer.Argument(
        help="Results that `pellucid explain --save` wrote (.parquet or .json), the folder or address of a run, or "
        "what another command kept with --save or --out."
    ),
]


def report(
    results: SavedResults,
    *,
    out: Annotated[
        Path,
        typer.Option(
            help="The page: a name that ends in .html. Of many texts it leads to pages in a folder beside it."
        ),
    ],
    title: Annotated[str | None, typer.Option(help="The heading. Default: what the page shows.")] = None,
) -> None:
    """Write saved results as a page; of a run over a corpus, a page a thousand texts."""
    if out.suffix != ".html":
        raise BadFile(f"--out {out} does not end in .html; give such a name.")
    check_outputs([out], [results])
    pellucid.report(pellucid.read(results), path=out, title=title)
    say(f"Written: {out}", aside=True)


def save(
    results: SavedResults,
    out: Annotated[Path, typer.Argument(help="The file to write: .parquet, .json, .jsonl, .jsonl.gz or .csv.")],
) -> None:
    """Write saved explanations as a file of another form, such as a run over a corpus as one file."""
    writers = {".csv": pellucid.write_csv, ".parquet": pellucid.save, ".json": pellucid.save}
    name = out.name.removesuffix(".gz")
    write = writers.get(out.suffix, pellucid.write_json_lines if name.endswith(".jsonl") else None)
    if write is None:
        raise BadFile(f"{out} ends in {out.suffix!r}; give a name that ends in {listed([*writers, '.jsonl'])}.")
    check_outputs([out], [results])
    write(pellucid.read(results), out)
    say(f"Written: {out}", aside=True)


# Commands about files: `pellucid convert`, data as JSON lines; `plant`, texts with a known reason; `verify`, is a
# folder whole?


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
    from pellucid.explaining.answers import some_of

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
    from pellucid.explaining.answers import some_of

    if reading == Reading() and amount == Amount():
        return on
    examples = reading.source(on, "all", label_map=reading.meanings()).examples()
    return some_of(examples, limit=amount.limit, sample=amount.sample, seed=seed)


# `pellucid verify FOLDER`: is a folder as the command left it that made it?

DAMAGED = 1  # the exit status where a file is missing or changed


def verify(
    folder: Annotated[
        str,
        typer.Argument(
            help="What compare, attack, train or another command wrote with --out; a run's folder or address."
        ),
    ],
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
