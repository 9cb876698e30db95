"""`pellucid extract MODEL DATA`: the evidence of each text, written as a data set of its own."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

import pellucid
from pellucid.cli.options import FormatOption, ReadOption, SkipOption, settings_from
from pellucid.cli.safe_text import say
from pellucid.core.foundation.errors import BadFile, BadSetting
from pellucid.core.results.extraction import SEPARATOR, Extraction, extraction_in
from pellucid.datasets.load import load_examples, load_part
from pellucid.datasets.shared.part_files import PARTS


def extract(
    model: Annotated[str, typer.Argument(help="A folder with a classifier, or a hub name.")],
    data: Annotated[str, typer.Argument(help="A data set's name, a data file, or a folder of parts.")],
    out: Annotated[Path, typer.Option(help="Folder for train.jsonl, dev.jsonl and test.jsonl of spans.")],
    extractor: Annotated[
        str, typer.Option(help="span_attention, average_gradient, random_span, …, or any method.")
    ] = "span_attention",
    selection: Annotated[
        str | None,
        typer.Option(
            help="literal, same_length, budget, best_words, max_sum_centred, above_half, top_spans."
        ),
    ] = None,
    budget: Annotated[
        str | None, typer.Option(help="A share of a text's words (0.2), or a number of words (5).")
    ] = None,
    n_spans: Annotated[int, typer.Option(min=1, help="How many spans a text has at most.")] = 1,
    like: Annotated[
        Path | None, typer.Option(help="A folder of spans of the same texts, whose lengths are taken.")
    ] = None,
    parts: Annotated[str, typer.Option(help="Which parts, with commas.")] = ",".join(PARTS),
    separator: Annotated[str, typer.Option(help="What stands between several spans of a text.")] = SEPARATOR,
    format_: FormatOption = None,
    read: ReadOption = None,
    skip_bad_rows: SkipOption = False,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A setting of the extractor, name=value.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of random extractors.")] = 0,
    device: Annotated[str, typer.Option(help="cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Write the evidence of each text as a data set that `pellucid train` reads."""
    paths = {part: out / f"{part}.jsonl" for part in _parts(parts)}
    for path in filter(Path.exists, paths.values()):
        raise BadFile(f"{path} is there already; give another folder, or remove it.")
    classifier = pellucid.load(model, device=device)
    for part, path in paths.items():
        examples = load_part(data, part, format_, skip_bad_rows, **settings_from(read or [], "--read"))
        found = pellucid.extract(
            classifier,
            examples,
            extractor,
            selection=selection,
            budget=None if budget is None else budget_from(budget),
            n_spans=n_spans,
            like=None if like is None else [extraction_in(one) for one in load_examples(like, part)],
            seed=seed,
            **settings_from(set_ or []),
        )
        pellucid.write_json_lines([one.as_example(separator) for one in found], path)
        say(f"{part}: {_told(found)}. Written: {path}")
    if {"train", "dev"} <= set(paths):
        say(f"Train on it: pellucid train {out} --pooler first_token --out MODEL")


def _parts(told: str) -> list[str]:
    names = [name.strip() for name in told.split(",")]
    strange = [name for name in names if name not in PARTS]
    if strange:
        raise BadSetting(f"--parts {strange[0]!r} is no part; give some of {', '.join(PARTS)}.")
    return names


def budget_from(told: str) -> float:
    """A share where it is written with a point, else a number of words."""
    try:
        return int(told) if told.isdecimal() else float(told)
    except ValueError:
        raise BadSetting(
            f"--budget {told!r} is no number; write a share such as 0.2, or words such as 5."
        ) from None


def _told(found: Sequence[Extraction]) -> str:
    if not found:
        return "no texts"
    covered = np.mean([one.coverage for one in found])
    return f"{len(found)} texts, {covered:.0%} of the words of a text on average"
