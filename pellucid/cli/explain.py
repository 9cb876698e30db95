"""`pellucid explain MODEL TEXT…`: why did the model decide so?"""

import json
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options import (
    FormatOption,
    Reading,
    ReadOption,
    SkipOption,
    choices_from,
    settings_from,
    texts_from,
)
from pellucid.cli.safe_text import say
from pellucid.core.foundation.files import check_place
from pellucid.core.passes.hidden_target import HiddenState
from pellucid.core.passes.readout import Positions
from pellucid.core.passes.target import TargetName
from pellucid.core.results.storage import check_name, to_record


def explain(
    model: Annotated[str, typer.Argument(help="A folder with a classifier, or a hub name.")],
    texts: Annotated[
        list[str] | None, typer.Argument(help="Texts; none or - reads standard input, one a line.")
    ] = None,
    second: Annotated[str | None, typer.Option(help="The second text of a pair.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="A file of texts, one a line, or a data file or folder.")
    ] = None,
    split: Annotated[str, typer.Option(help="Which part of --file: train, dev, test or all.")] = "test",
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
    method: Annotated[
        str,
        typer.Option(help="A name, names with commas, or all: side by side. See `pellucid methods`."),
    ] = "integrated_gradients",
    target: Annotated[str, typer.Option(help="predicted, gold, or a class name or number.")] = "predicted",
    against: Annotated[str | None, typer.Option(help="Explain why the target, not this class.")] = None,
    output: Annotated[str, typer.Option(help="logit, probability or loss.")] = "logit",
    layer: Annotated[
        int | None, typer.Option(help="Explain this layer's hidden state instead of a class.")
    ] = None,
    positions: Annotated[
        str, typer.Option(help="Whose state: pooled, first, last, or numbers of pieces such as 1,2.")
    ] = "pooled",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", help="A setting of the method, name=value; of several methods, method.name=value."
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of random methods.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a report to this file.")] = None,
    save: Annotated[Path | None, typer.Option(help="Save the results: .parquet or .json.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, …")] = "cpu",
    dtype: Annotated[
        str, typer.Option(help="float32, mixed_bfloat16, bfloat16, float16 or float64.")
    ] = "float32",
) -> None:
    """Explain why a model classifies texts as it does."""
    if save is not None:
        check_name(save)
    for path in filter(None, (save, html)):
        check_place(path)  # before the work, not after it
    examples = texts_from(texts or [], second, file, Reading(split, format_, read, skip_bad_rows))
    choices = choices_from(method, settings_from(set_ or []))
    classifier = pellucid.load(model, device=device, dtype=dtype)
    found = pellucid.explain_all(
        classifier,
        examples,
        choices,
        target=_target(target, against) if layer is None else HiddenState(layer, _positions(positions)),
        output=output,  # type: ignore[arg-type]  # checked where the target is made
        seed=seed,
    )
    results = found.explanations
    if save is not None:
        pellucid.save(results, save)
    if html is not None:
        pellucid.report(results if len(found) == 1 else found, path=html)
    if as_json:
        print(json.dumps([to_record(result) for result in results]))
    elif len(found) == 1:
        for result in results:
            print(result)
    else:
        print(found)
    for path in filter(None, (save, html)):
        say(f"Written: {path}", aside=True)


def _positions(told: str) -> Positions:
    """One of the words, or the numbers of pieces."""
    numbers = told.split(",")
    return tuple(map(int, numbers)) if all(map(str.isdecimal, numbers)) else told


def _target(target: str, against: str | None) -> TargetName:
    """A class, or a pair when there is a class to set it against."""
    return target if against is None else (target, against)
