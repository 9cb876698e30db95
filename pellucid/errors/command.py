"""`pellucid errors MODEL DATA`: what do the texts look like that a model gets wrong?"""

from __future__ import annotations

import json
from dataclasses import replace
from glob import has_magic
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pellucid
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import check_outputs
from pellucid.explaining.commands.corpus_run import RunOptions, check_run, run_corpus
from pellucid.explaining.commands.data_options import (
    Amount,
    Answers,
    DataOrNone,
    Part,
    Reading,
    Saved,
    ShortcutPasses,
    examples_of,
    labelled,
    selected,
)
from pellucid.explaining.commands.model_options import held_out, left_out_of, with_option_records
from pellucid.explaining.commands.safe_text import say
from pellucid.text.example import Example

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pellucid.errors.record import ErrorAnalysis
    from pellucid.explaining.inputs.data_source import DataSource
    from pellucid.run.model import Model


@with_option_records
def errors(
    model: Annotated[
        str, typer.Argument(help="A folder with a classifier, or the name of one on the Hugging Face Hub.")
    ],
    data: DataOrNone = None,
    *,
    saved: Saved,
    train: Annotated[
        str | None,
        typer.Option(
            help="Data to learn cue words from, which are typical of a class; default: the train part of the data, or "
            "of one file the other half of its texts."
        ),
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="Whose scores are the evidence; default: a self-explaining model's own weights, else "
            "integrated_gradients."
        ),
    ] = None,
    part: Part,
    reading: Reading,
    amount: Amount,
    answers: Answers,
    run: RunOptions,
    file: Annotated[
        str | None, typer.Option("--data", help="The data, in place of DATA; with --out also a pattern of files.")
    ] = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes that compute the run of --out.")] = 1,
    min_count: Annotated[
        int, typer.Option(min=1, help="In how many train texts of a class a cue word must occur.")
    ] = 5,
    shortcut_passes: ShortcutPasses = 500,
    seed: Annotated[int, typer.Option(help="The seed of --sample.")] = 0,
    html: Annotated[Path | None, typer.Option(help="Write a report to this HTML file.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the analysis as JSON.")] = False,
    device: Annotated[str, typer.Option(help="Where to compute: cpu, cuda, cuda:1, …")] = "cpu",
) -> None:
    """Group the mistakes of a model by their evidence, and compare them with the texts that it gets right."""
    from pellucid.results.results import StoredExplanations

    data = _data_of(data, file)
    check_outputs([html], [data, train, saved.explained])  # reported before the work, not after it
    if run.is_wanted:
        others = {"--explained": saved.explained, "--sample": amount.sample, "--only or --sort": answers != Answers()}
        check_run(data, others)
    elif workers > 1:
        raise BadSetting("--workers computes a run in a folder; name it: --out FOLDER.")
    source = None if data is None else reading.source(data, part.split)
    explained = None if run.is_wanted else saved.results()
    is_plain = source is None and (amount, answers, reading.meanings()) == (Amount(), Answers(), None)
    in_turn = run.is_wanted or (is_plain and isinstance(explained, StoredExplanations))
    examples = () if in_turn else examples_of(source, explained)
    classifier = pellucid.load(model, device=device)
    counted: dict[str, Any] = {"min_count": min_count, "shortcut_passes": shortcut_passes}
    if run.is_wanted and data is not None:
        question = {"methods": method, "limit": amount.limit, "seed": seed}
        whole = run_corpus(classifier, data, part.split, reading, run, question, workers, aside=True)
        if whole is None:
            return
        of_files = None if has_magic(data) and not Path(data).exists() else source
        analysis = _analysis_of_run(classifier, whole, of_files, train, reading, counted)
    elif in_turn:
        known = _train_examples(classifier, None, train, reading)
        analysis = pellucid.error_analysis(classifier, explained=explained, train=known, method=method, **counted)
    else:
        judged, rest = held_out(classifier, labelled(classifier, examples, reading, needed=True), source)
        known = rest if train is None and rest else _train_examples(classifier, source, train, reading)
        texts = selected(classifier, judged, amount, answers, seed)
        analysis = pellucid.error_analysis(
            classifier, texts, explained=explained, train=known, method=method, **counted
        )
    if html is not None:
        pellucid.report(analysis, path=html)
    print(json.dumps(analysis.record()) if as_json else analysis)
    if html is not None:
        say(f"Written: {html}", aside=True)


def _analysis_of_run(
    model: Model,
    run: pellucid.Run,
    source: DataSource | None,
    train: str | None,
    reading: Reading,
    counted: dict[str, Any],
) -> ErrorAnalysis:
    """The analysis of all rows but those that training has read, of which cue words are learned."""
    import numpy as np

    from pellucid.errors.door import analysis_of_run
    from pellucid.results.results import StoredSelection

    left_out = np.array(left_out_of(model, run.texts, source), dtype=bool)
    known: Sequence[Example] | None = StoredSelection(run.texts, np.flatnonzero(left_out))
    if train is not None or not left_out.any():
        known = _train_examples(model, source, train, reading)
    return analysis_of_run(model, run, known, rows=np.flatnonzero(~left_out), **counted)


def _data_of(argument: str | None, option: str | None) -> str | None:
    """The data; raises `BadInput` where they are named twice."""
    if argument is not None and option is not None:
        raise BadInput(f"{argument} and --data {option} are both data; give one of them.")
    return option if argument is None else argument


def _train_examples(
    model: Model, source: DataSource | None, train: str | None, reading: Reading
) -> list[Example] | None:
    """The texts to learn cue words from; None where the data are one file or were explained before."""
    named = source or reading.source(train or "", "train")
    if train is None and (not named.data or named.is_one_file):
        return None
    examples = replace(named, data=train or named.data, split="train").examples()
    return list(labelled(model, examples, reading, needed=True))
