"""The door `explain_corpus`: one method on millions of texts, in a folder that any number of processes may join."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from pellucid.base.catalogue import Choice
from pellucid.base.checks import choices, listed, whole
from pellucid.base.errors import BadSetting, ModelCannot, notify
from pellucid.base.kinds import engines
from pellucid.base.leases import LOOK, share_of
from pellucid.base.packages import __version__
from pellucid.base.processes import Progress, begin_nothing
from pellucid.corpus.careful import CarefulWorker, Computation, InProcess, OnPart
from pellucid.corpus.data import CorpusData, CorpusReading, chunks, corpus_data
from pellucid.corpus.folder import LEASES, Job, RunFolder, check_question
from pellucid.corpus.plan import check_rows, make_plan
from pellucid.corpus.record import REUSE, Run, check_reusable, save_matches
from pellucid.corpus.shard import PART
from pellucid.corpus.stored_run import run_folder
from pellucid.corpus.work import RunWork, ShardWorker
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.explained_texts import TextQuestion
from pellucid.explaining.inputs.examples import reads_label
from pellucid.explaining.inputs.loading import MOST_WORKERS, loading_of
from pellucid.explaining.inputs.models import any_model_from, check_whole_texts
from pellucid.explaining.inputs.readings import Data, ModelSource, default_method, explained_target
from pellucid.run.diagnostics import route_record
from pellucid.run.explaining import Request
from pellucid.run.hidden_target import StateTarget
from pellucid.run.labels import Labels
from pellucid.run.model import WRITING, Model
from pellucid.run.target import Output, Target, TargetName
from pellucid.text.label_map import LabelMap
from pellucid.text.passages import FixedPart, FixedParts

MAX_FAILURES = 100


def explain_corpus(
    model: ModelSource,
    texts: Data,
    methods: Choice | Sequence[Choice] | None = None,
    *,
    folder: str | Path,
    workers: int = 1,
    threads: int = 1,
    slice: str | None = None,
    target: TargetName | StateTarget = "predicted",
    output: Output = "logit",
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    split: str = "test",
    format: str | None = None,
    read: dict[str, Any] | None = None,
    skip_bad_rows: bool = False,
    limit: int | None = None,
    keep: FixedPart | Sequence[FixedPart] | None = None,
    max_failures: int = MAX_FAILURES,
    engine: Choice = "local",
    reuse: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Run:
    """Explain each text of a corpus by one or several methods, shard by shard, in a folder.

    model: as in `explain`. One that was loaded from files, or that comes as a function without arguments, at the top of
        a module, is computed in processes of its own, so in a script the call stands under `if __name__ ==
        "__main__":`; one in memory in this process.
    texts: a name of data: a file, a folder, a data set, or files by a pattern such as "reviews/*.parquet", which are
        read row by row; or what `explain` reads, in memory.
    methods: a name of `methods`, a (name, settings) pair, or a list of these, which share their passes; None: as in
        `explain`.
    folder: where the run is kept: a path, or an address such as "s3://bucket/run". Where it holds this run, the run
        goes on. Any number of processes may join it.
    workers: processes that compute; the scores do not depend on how many there are.
    threads: of each of them. Another number may change the last bits of scores, so a folder goes on with its own.
    slice: "i/n", such as "3/64", for one of n jobs: the shards i, i + n … come first, then whichever are not done.
    target, output, seed, text, label, label_map, skip_bad_rows, keep, progress: as in `explain`.
    split, format, read: the part of data that have parts; how files are read; settings of the format.
    limit: the first so many rows alone.
    max_failures: more rows with an error end the run.
    engine: what computes: "local", processes of this machine; "ray", actors of Ray, with settings
        ("ray", {"address": "auto"}); or one that another package registers.
    reuse: the folder or address of an earlier run, whose rows of equal text, model and question are copied.
    settings: the method's own, where there is one.

    Returns the `Run`, whole. Raises `BadFile` where the folder holds another run, or the data have changed since,
    `BadInput` for data that cannot be read, `BadSetting` for a slice outside 1 to n, `ModelCannot` for more than one
    worker of a model that is only in memory, for a model that writes, and beyond max_failures.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> run = pellucid.explain_corpus(model, ["A good film.", "Dull.", "Dull."], folder="runs/three", progress=False)
    >>> len(run), run.failures
    (3, [])
    """
    share, workers = share_of(slice), whole("workers", workers, 1, MOST_WORKERS)
    name, changes = (engine, {}) if isinstance(engine, str) else engine
    how, changes = engines.get(name), {"workers": workers, **changes}
    how_settings = how.settings(changes)
    threads = whole("threads", threads, 1, MOST_WORKERS)
    max_failures = whole("max_failures", max_failures, 0, 1 << 62)
    limit = None if limit is None else whole("limit", limit, 1, 1 << 62)
    reading = CorpusReading(text, label, split, format, read, skip_bad_rows, label_map, limit, keep)
    classifier = any_model_from(model)
    question = corpus_question(classifier, methods, settings, target, output, seed)
    request = question.request(classifier)
    data = corpus_data(classifier, texts, reading, target)
    place = run_folder(folder)
    begin = _beginning(classifier, workers)
    if workers > (cores := os.cpu_count() or workers):
        notify(f"{workers:,} workers share {cores:,} cores; more than that compute no faster.")
    with progress_bar(progress) as show:
        job, is_new = planned(
            place, request, data, reading, target, reuse, threads if begin else torch.get_num_threads(), show
        )
        work = RunWork(place, job, share, max_failures, _maker(place, job, question, request, begin), show)
        work.check()
        if not is_new:
            check_rows(place, job, data, chunks(classifier, data, reading, target), reads_label(target), show)
        if not work.is_done:
            how.make(work, **how_settings)
        if work.is_done:
            place.clear_remains()
    return Run(folder)


def corpus_question(
    model: Model,
    methods: Choice | Sequence[Choice] | None,
    settings: dict[str, Any],
    target: TargetName | StateTarget,
    output: Output,
    seed: int,
) -> TextQuestion:
    """What is asked of each text; raises `ModelCannot` for a model that writes."""
    if WRITING in model.capabilities:
        raise ModelCannot(
            f"{model.name} writes texts, and a run explains classifiers; explain its texts without a folder."
        )
    check_whole_texts(model)
    named = _choices(default_method(model, target, output) if methods is None else methods, settings)
    explainable = explained_target(model, target, output)
    if isinstance(explainable, Labels):
        raise BadSetting("A run has one explanation a text; name one class as target, and make a run for each.")
    return TextQuestion(named, frozenset(), explainable, seed, False)


def _choices(methods: Choice | Sequence[Choice], settings: dict[str, Any]) -> list[Choice]:
    """The methods with their settings; raises `BadSetting` for settings beside several methods, which say not whose."""
    is_pair = isinstance(methods, tuple) and len(methods) == 2 and isinstance(methods[1], Mapping)
    named = choices("methods", [methods] if isinstance(methods, str) or is_pair else methods)
    if not named:
        raise BadSetting("methods=[] names none; name a method, or leave methods= away.")
    if not settings:
        return named
    if len(named) > 1 or not isinstance(named[0], str):
        raise BadSetting(
            f"{listed(settings)} may belong to any of several methods; give each with its own, as in "
            f"methods=[('occlusion', {{'window': 2}}), 'gradient']."
        )
    return [(named[0], settings)]


def question_record(request: Request, reading: CorpusReading) -> dict[str, Any]:
    """Everything that a row's scores depend on besides its text, and how rows are read, as plain values."""
    target, model = request.target, request.model
    in_words = target.in_words(model.labels) if isinstance(target, Target) else repr(target)
    head = getattr(model, "language_head", None)
    return {
        "version": __version__,
        "model": model.name,
        "weights": request.model_hash,
        "methods": {call.title: json.loads(json.dumps(dict(call.settings))) for call in request.calls},
        "target": in_words,
        "seed": request.seed,
        "rows in a part": PART,
        **({} if head is None else {"language head": head.digest}),
        **({} if reading.keep is None else {"keep": FixedParts(reading.keep).record()}),
        **route_record(model),
        "data": reading.record(),
    }


def planned(
    folder: RunFolder,
    request: Request,
    data: CorpusData,
    reading: CorpusReading,
    target: TargetName | StateTarget,
    reuse: str | Path | None,
    threads: int,
    progress: Progress,
) -> tuple[Job, bool]:
    """The plan of the folder, and whether it was made now; one that is there is compared with what is asked.

    Of several processes that begin together one makes it, and the others wait.
    """
    question = question_record(request, reading)
    if reuse is not None:
        question[REUSE] = str(reuse)
    job = folder.job()
    if job is not None:
        check_question(folder.title, job.question, question)
    elif reuse is not None:
        check_reusable(reuse, question)
    folder.prepare()
    lease = folder.path / LEASES / "plan.json"
    with folder.leases() as leases:
        while not leases.take(lease):
            time.sleep(LOOK)
        job = folder.job()
        if job is None:
            matches = partial(save_matches, folder, reuse) if reuse is not None else begin_nothing
            rows, by_label = chunks(request.model, data, reading, target), reads_label(target)
            job = make_plan(
                folder, question, data, rows, by_label=by_label, threads=threads, reuse=matches, progress=progress
            )
            return job, True
    check_question(folder.title, job.question, question)
    return job, False


def _beginning(model: Model, workers: int) -> Callable[[], Model] | None:
    """How a child gets the model; None where it is only in this process, which then is the one worker."""
    try:
        return loading_of(model)
    except ModelCannot:
        if workers > 1:
            raise
        return None


def _maker(
    folder: RunFolder, job: Job, question: TextQuestion, request: Request, load: Callable[[], Model] | None
) -> Callable[[OnPart], ShardWorker]:
    if load is None:
        return lambda on_part: InProcess(request, folder, job, on_part)
    gpus = int(request.model.device.type == "cuda")
    absolute = replace(folder, path=folder.path.absolute())  # a worker may stand in another folder
    computation = Computation(absolute, job, question, load, request.model_hash, gpus)
    return lambda on_part: CarefulWorker(computation, on_part, request)
