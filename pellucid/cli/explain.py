"""`pellucid explain MODEL TEXT…`: why did the model decide so?"""

import json
from pathlib import Path
from typing import Annotated

import typer

import pellucid
from pellucid.cli.options import (
    FormatOption,
    ReadOption,
    SkipOption,
    choices_from,
    settings_from,
    source_from,
    texts_from,
)
from pellucid.cli.safe_text import say
from pellucid.core.foundation.files import check_place
from pellucid.core.passes.hidden_target import HiddenState
from pellucid.core.passes.readout import Positions
from pellucid.core.passes.target import TargetName
from pellucid.core.results.storage import check_name, to_record


def explain(
    model: Annotated[
        str, typer.Argument(help="A folder with a classifier, or the name of one on the Hugging Face Hub.")
    ],
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            help="The texts. Without any, or with -, they are read from standard input, one a line."
        ),
    ] = None,
    *,
    second: Annotated[str | None, typer.Option(help="The second text of a pair.")] = None,
    file: Annotated[
        Path | None, typer.Option(help="A file of texts, one a line, or a data file or folder.")
    ] = None,
    split: Annotated[str, typer.Option(help="The part of --file to read: train, dev, test or all.")] = "test",
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
    method: Annotated[
        str,
        typer.Option(
            help="A method, several with commas, or all (every usual method); `pellucid methods` lists them."
        ),
    ] = "integrated_gradients",
    target: Annotated[
        str,
        typer.Option(help="The class to explain: predicted, gold (the label), or a class by name or number."),
    ] = "predicted",
    against: Annotated[str | None, typer.Option(help="Explain why the target and not this class.")] = None,
    output: Annotated[str, typer.Option(help="The number to explain: logit, probability or loss.")] = "logit",
    layer: Annotated[
        int | None,
        typer.Option(
            help="Explain a hidden state of this layer instead of a class; 0 is the input of the first layer."
        ),
    ] = None,
    positions: Annotated[
        str,
        typer.Option(help="Whose hidden state: pooled, first, last, or the numbers of pieces, such as 1,2."),
    ] = "pooled",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the method: name=value; with several methods: method.name=value. May be repeated.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(help="The seed of random methods.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    save: Annotated[
        Path | None, typer.Option(help="Save the results to this file: .parquet or .json.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
    dtype: Annotated[
        str, typer.Option(help="The number type: float32, mixed_bfloat16, bfloat16, float16 or float64.")
    ] = "float32",
) -> None:
    """Explain why a model classifies texts as it does: how much each word mattered."""
    if save is not None:
        check_name(save)
    for path in filter(None, (save, html)):
        check_place(path)  # reported before the work, not after it
    source = source_from(file or "", split, format_=format_, read=read, skip_bad_rows=skip_bad_rows)
    examples = texts_from(texts or [], second, file, source)
    choices = choices_from(method, settings_from(set_ or []))
    classifier = pellucid.load(model, device=device, dtype=dtype)
    side_by_side = pellucid.explain_all(
        classifier,
        examples,
        choices,
        target=_target(target, against) if layer is None else HiddenState(layer, _positions(positions)),
        output=output,  # type: ignore[arg-type]  # checked where the target is made
        seed=seed,
    )
    results = side_by_side.explanations
    if save is not None:
        pellucid.save(results, save)
    if html is not None:
        pellucid.report(results if len(side_by_side) == 1 else side_by_side, path=html)
    if as_json:
        print(json.dumps([to_record(result) for result in results]))
    elif len(side_by_side) == 1:
        for result in results:
            print(result)
    else:
        print(side_by_side)
    for path in filter(None, (save, html)):
        say(f"Written: {path}", aside=True)


def _positions(text: str) -> Positions:
    """ "pooled", "first" or "last", or the numbers of pieces."""
    numbers = text.split(",")
    return tuple(map(int, numbers)) if all(map(str.isdecimal, numbers)) else text


def _target(target: str, against: str | None) -> TargetName:
    """A class, or a pair of classes if there is one to compare it with."""
    return target if against is None else (target, against)
