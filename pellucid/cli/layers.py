"""`pellucid layers MODEL… --file TEXTS`: which words do the layers of a model still use?"""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

import pellucid
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import check_outputs
from pellucid.cli.options.data_options import Amount, Reading, TextOptions
from pellucid.cli.options.option_records import settings_from, with_option_records
from pellucid.cli.options.safe_text import say


@with_option_records
def layers(
    models: Annotated[
        list[str],
        typer.Argument(
            help="Folders or hub names; further models are compared with the first. Trainings of one model with several "
            "seeds: their folders with commas between."
        ),
    ],
    *,
    source: TextOptions,
    reading: Reading,
    amount: Amount,
    method: Annotated[
        str, typer.Option(help="A method that gives scores a layer, such as grad_cam.")
    ] = "retained_information",
    setting: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the method: name=value. May be repeated.")
    ] = None,
    which: Annotated[
        str,
        typer.Option("--layers", help="all, the number of one, or head: what the classification head reads."),
    ] = "all",
    positions: Annotated[
        str,
        typer.Option(
            help="Whose states: pooled, first, last, all, or numbers of pieces with commas (1,2). each: a row for the state at each "
            "step of a text, with the number of one layer in --layers."
        ),
    ] = "pooled",
    target: Annotated[
        str | None, typer.Option(help="The class to explain, for a method that explains classes.")
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of random methods and of --sample.")] = 0,
    out: Annotated[
        Path | None,
        typer.Option(
            help="Keep the work in this folder. After an interruption, run the same command again to go on."
        ),
    ] = None,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the analysis, with every score, to this JSON file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Show which words each layer of a model still uses, and which words a further model stopped using."""
    check_outputs([save, html], [source.file])  # reported before the work, not after it
    if source.file is None:
        raise BadInput("There are no texts; name them with --file FILE, one text a line, or a data file.")
    examples = source.examples([], reading)
    loaded = {
        name: [pellucid.load(one, device=device) for one in folders]
        for name, folders in _named(models).items()
    }
    first = next(iter(loaded.values()))[0]
    analysis = pellucid.layer_analysis(
        loaded,
        pellucid.select(first, examples, limit=amount.limit, sample=amount.sample, seed=seed),
        method,
        layers=_layers(which),
        positions=_positions(positions),
        target=target,
        seed=seed,
        out=out,
        **settings_from(setting or []),
    )
    if save is not None:
        analysis.save(save)
    if html is not None:
        pellucid.report(analysis, path=html)
    print(json.dumps(analysis.record()) if as_json else analysis)
    for path in filter(None, (out, save, html)):
        say(f"Written: {path}", aside=True)


def _named(models: list[str]) -> dict[str, list[str]]:
    """Each argument, by the last part of its path, with its folders: one, or with commas the trainings of one model."""
    named: dict[str, list[str]] = {}
    for argument in models:
        folders = [argument] if Path(argument).exists() else [one for one in argument.split(",") if one]
        if not folders:
            raise BadInput(f"{argument!r} names no model; give a folder or a hub name.")
        name, number = Path(folders[0]).name or folders[0], 2
        while name in named:
            name, number = f"{Path(folders[0]).name} ({number})", number + 1
        named[name] = folders
    return named


def _layers(text: str) -> Any:  # "all", "head" or a number, as the door takes them
    if text in ("all", "head"):
        return text
    if not text.isascii() or not text.isdigit():
        raise BadSetting(f"--layers {text!r} is not possible; give all, head or the number of one layer.")
    return int(text)


def _positions(text: str) -> str | tuple[int, ...]:
    numbers = text.split(",")
    return tuple(map(int, numbers)) if all(one.isascii() and one.isdigit() for one in numbers) else text
