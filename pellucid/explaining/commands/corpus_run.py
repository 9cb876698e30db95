"""`pellucid explain MODEL --data … --out FOLDER`: the options of a run over a corpus, and what is printed of it."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Annotated, Any

import typer

import pellucid
from pellucid.base.checks import listed, readable_number
from pellucid.base.errors import BadFile, BadInput, BadSetting
from pellucid.base.files import place_of
from pellucid.base.kinds import readers
from pellucid.explaining.commands.data_options import Engine, Reading
from pellucid.explaining.commands.model_options import settings_from
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:
    from pellucid.results.side_by_side import SideBySide
    from pellucid.run.model import Model

LONG = 3600.0  # seconds: a longer run is asked about first
JOB = "job.json"  # a folder with it has a run


@dataclass(frozen=True)
class RunOptions(Engine):
    """A run over a corpus, in a folder."""

    out: Annotated[
        str | None,
        typer.Option(
            help="Keep the explanations of --data in this folder, or at an address such as s3://bucket/run, shard by "
            "shard: for millions of texts. The same command goes on after any interruption, and others may join it. "
            "--data may be a pattern of files."
        ),
    ] = None
    slice_: Annotated[
        str | None,
        typer.Option(
            "--slice", help="i/n: this is job i of n, from 1/n to n/n; its shards come first, then what is not done."
        ),
    ] = None
    estimate: Annotated[bool, typer.Option("--estimate", help="Try 32 texts, say how long the run takes, and end.")] = (
        False
    )
    yes: Annotated[bool, typer.Option("--yes", help="Begin a run of more than an hour without asking.")] = False
    max_failures: Annotated[
        int, typer.Option(min=0, help="More texts with an error than this end the run; fewer are left out.")
    ] = 100
    reuse: Annotated[
        str | None,
        typer.Option(help="The folder or address of an earlier run: its rows of equal text and question are copied."),
    ] = None

    @property
    def is_wanted(self) -> bool:
        """Whether a run over a corpus is meant; raises `BadSetting` for options of one that names no folder."""
        if self.out is not None or self.estimate:
            return True
        written = {"--slice": self.slice_, "--yes": self.yes, "--reuse": self.reuse, "--address": self.address}
        if names := [name for name, value in written.items() if value]:
            raise BadSetting(f"{listed(names)} belongs to a run in a folder; name it: --out FOLDER.")
        return False


def check_run(data: str | None, others: Mapping[str, object]) -> str:
    """The data; raises `BadInput` where none are named, `BadSetting` for options that a run does not have."""
    if data is None:
        raise BadInput("--out keeps a run over data; name them: --data FILE, a folder, a data set or a pattern.")
    if names := [name for name, value in others.items() if value]:
        raise BadSetting(
            f"{listed(names)} does not go with --out, which explains every row of the data; leave it away."
        )
    return data


def run_corpus(
    model: Model,
    data: str,
    split: str,
    reading: Reading,
    options: RunOptions,
    question: dict[str, Any],
    workers: int,
    save: Path | None = None,
    aside: bool = False,
) -> pellucid.Run | None:
    """Explain a corpus as the options say, and save it too; None where it was only estimated, or not begun."""
    corpus = _arguments(data, split, reading, question)
    folder = None if options.out is None else place_of(options.out)
    is_new = folder is None or _is_new(folder)
    if options.estimate or (is_new and not options.yes):
        cost = pellucid.corpus_cost(model, workers=workers, **corpus)
        if options.estimate:
            print(cost)
            return None
        if not _agreed(cost):
            return None
    assert folder is not None
    run = pellucid.explain_corpus(
        model,
        folder=folder,
        workers=workers,
        slice=options.slice_,
        max_failures=options.max_failures,
        reuse=None if options.reuse is None else place_of(options.reuse),
        engine=options.with_settings,
        **corpus,
    )
    say(summary(run), aside=aside)
    if save is not None:
        pellucid.save(run, save)
        say(f"Written: {save}", aside=True)
    return run


def _is_new(place: str | Path) -> bool:
    """Whether there is no run yet; what is damaged is not new."""
    if isinstance(place, Path):
        return not (place / JOB).exists()
    try:
        return readers.get("run_at").make(place) is None
    except BadFile:  # the run mends it, or says the same
        return False


def _arguments(data: str, split: str, reading: Reading, question: dict[str, Any]) -> dict[str, Any]:
    """What the door takes of how the data are read, and of the question."""
    return {
        "texts": data,
        "split": split,
        "text": reading.text_column,
        "label": reading.label_column,
        "label_map": reading.meanings(),
        "format": reading.format_,
        "read": settings_from(reading.read or [], "--read"),
        "skip_bad_rows": reading.skip_bad_rows,
        **question,
    }


# `explain --data … --save FILE` of more rows than a shard is a run, too, in a folder beside the file until it is whole:
# an interruption then loses one shard, and memory holds a few of them. Of fewer rows no more could be lost.

ROWS = 1024  # of a shard
IN_MEMORY = 10_000  # explanations of which the terminal shows a summary as of few ones


def is_large(data: str | None, split: str, reading: Reading, limit: int | None) -> bool:
    """Whether data have more rows than a shard; a pattern of files counts as such."""
    from glob import has_magic

    from pellucid.data.load import is_plain_text

    if data is None or (limit is not None and limit <= ROWS):
        return False
    path = Path(data)
    if has_magic(data) and not path.exists():
        return True
    if reading.format_ is None and path.is_file() and is_plain_text(data):
        with path.open("rb") as file:
            return sum(1 for _ in islice((line for line in file if line.strip()), ROWS + 1)) > ROWS
    return sum(1 for _ in islice(reading.source(data, split).streamed(), ROWS + 1)) > ROWS


def saved_by_run(
    model: Model,
    data: str,
    split: str,
    reading: Reading,
    save: Path,
    question: dict[str, Any],
    workers: int,
    views: bool,
) -> SideBySide | None:
    """Explain data into a file by a run beside it, and return the results. None for many, unless views need them."""
    import torch

    from pellucid.results.results import Results
    from pellucid.results.side_by_side import SideBySide

    folder, begun = save.with_name(f"{save.name}.run"), perf_counter()
    threads = max(1, torch.get_num_threads() // workers)
    corpus = _arguments(data, split, reading, question)
    run = pellucid.explain_corpus(model, folder=folder, workers=workers, threads=threads, max_failures=0, **corpus)
    seconds = perf_counter() - begun
    pellucid.save(run, save)
    by_method, n_texts = run.by_method, len(run) // len(run.methods)
    results = None
    if views or n_texts <= IN_MEMORY:
        results = SideBySide({title: Results(tuple(each)) for title, each in by_method.items()}, {}, seconds)
    else:
        say(f"{n_texts:,} texts explained by {run.method}. The words of each class: pellucid words {save}")
        say(f"Written: {save}", aside=True)
    shutil.rmtree(folder)
    return results


def summary(run: pellucid.Run) -> str:
    """How many texts were explained, and how many failed."""
    failures = run.failures
    place = run.folder.title
    reasons = f"{len(failures):,} failed, with reasons in {place}/failures" if failures else "none failed"
    copied = f"; {run.reused:,} copied from an earlier run" if run.reused else ""
    return f"{len(run) // len(run.methods):,} texts explained by {run.method}; {reasons}{copied}. Folder: {place}"


def _agreed(cost: Any) -> bool:
    """Whether a long run shall begin; a person is asked, and a script needs --yes."""
    if cost.seconds < LONG:
        return True
    say(str(cost), aside=True)
    hours = readable_number(cost.seconds / 3600)
    if not typer.get_text_stream("stdin").isatty():
        raise BadSetting(f"This run takes about {hours} hours; add --yes to begin it.")
    return bool(typer.confirm(f"This run takes about {hours} hours. Begin?", err=True))
