"""`pellucid plant REASON`: texts whose label has one known reason, to judge explanations by."""

from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.api.selecting import some_of
from pellucid.cli.options.data_options import Amount, Reading
from pellucid.cli.options.option_records import settings_from, with_option_records
from pellucid.cli.options.safe_text import say
from pellucid.text.example import Example


@with_option_records
def plant(
    reason: Annotated[
        str, typer.Argument(help="The reason: token, token_pair, order, position, span or lexicon.")
    ],
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
    """Make texts whose label has one known reason, with decoy words that often occur with a label and do not decide it."""
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
        f'Then ask whether it was learnt: pellucid.follows_planted_reason(pellucid.load("MODEL"), pellucid.examples("{out}"))'
    )


def _carriers(on: str, reading: Reading, amount: Amount, seed: int) -> str | list[Example]:
    """The texts to plant in: a name or path that is read as it is, or the texts that the options select."""
    if reading == Reading() and amount == Amount():
        return on
    examples = reading.source(on, "all", label_map=reading.meanings()).examples()
    return some_of(examples, limit=amount.limit, sample=amount.sample, seed=seed)
