"""What a run over a corpus will cost, from a trial of 32 texts spread over the lengths."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from io import BytesIO
from itertools import cycle
from time import perf_counter
from typing import Any, TypeVar, cast

import numpy as np
import torch

from pellucid.base.catalogue import Choice
from pellucid.base.checks import whole
from pellucid.base.errors import BadInput
from pellucid.base.processes import silent
from pellucid.corpus.data import CorpusReading, chunks, corpus_data
from pellucid.corpus.door import corpus_question
from pellucid.corpus.folder import DIGEST, SHARD
from pellucid.corpus.shard import RECORD_SCHEMA, SHARD_SCHEMA, ShardRecord, numbered, shard_record
from pellucid.drawing.terminal import duration, progress_bar
from pellucid.explaining.inputs.loading import MOST_WORKERS
from pellucid.explaining.inputs.models import any_model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.results.explanation import Explanation
from pellucid.results.storage import arrow_table, write_checked
from pellucid.run.explaining import Request, explain_batch
from pellucid.run.hidden_target import StateTarget
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.target import Output, TargetName
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap
from pellucid.text.passages import FixedPart
from pellucid.text.units import Kind, Units, coarsen

TRIED, SAMPLED = 32, 4096  # texts that run; texts whose lengths are known
Tried = Mapping[str, Sequence[Explanation]]  # by method's title
Text = TypeVar("Text")
START = 8.0  # seconds in which a process imports torch and loads a small model


@dataclass(frozen=True)
class CorpusCost:
    """What a run will cost. texts: of the data. seconds: with so many workers; low, high: between the two halves of the
    trial, and a tenth more. evaluations: texts that the model reads. bytes: on the disk, without the rows. tried: texts
    that this was judged by. None: what was not counted.
    """

    texts: int
    workers: int
    seconds: float
    low: float
    high: float
    evaluations: int | None
    bytes: int | None
    tried: int

    def __str__(self) -> str:
        several = "" if self.workers == 1 else "s"
        evaluations = "" if self.evaluations is None else f", {self.evaluations:,} evaluations of the model"
        size = "" if self.bytes is None else f", {self.bytes / 1e6:,.1f} MB"
        return (
            f"{self.texts:,} texts by {self.workers} worker{several}: about {duration(self.seconds)} "
            f"({duration(self.low)} to {duration(self.high)}){evaluations}{size}; judged by {self.tried} texts."
        )


def corpus_cost(
    model: ModelSource,
    texts: Data,
    methods: Choice | Sequence[Choice] | None = None,
    *,
    workers: int = 1,
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
    progress: bool | None = None,
    **settings: Any,
) -> CorpusCost:
    """What `explain_corpus` will cost, from 32 texts of different lengths; nothing is kept.

    model, texts, methods, workers, target, output, seed, text: as in `explain_corpus`.
    label, label_map, split, format, read, skip_bad_rows, limit, keep, progress, settings: as there, too. The data are
        read once, and the trial has one thread.

    Returns seconds with an interval, evaluations of the model, and bytes. Raises as `explain_corpus` does.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> pellucid.corpus_cost(model, ["A good film.", "Dull."] * 50).texts
    100
    """
    workers = whole("workers", workers, 1, MOST_WORKERS)
    reading = CorpusReading(text, label, split, format, read, skip_bad_rows, label_map, limit, keep)
    classifier = any_model_from(model)
    request = corpus_question(classifier, methods, settings, target, output, seed).request(classifier)
    data = corpus_data(classifier, texts, reading, target)
    with progress_bar(progress):
        count, sample = _sampled(chunks(classifier, data, reading, target))
        halves = _halves(sample, characters)
        _trial(request, halves[0][:1])  # the first pass is slower than the next
        trials = [_trial(request, half) for half in halves]
    together = _trial(request, [example for half in halves for example in half])
    busy = min(workers, os.cpu_count() or 1)
    rates = [seconds / len(half) for half, (seconds, _, _) in zip(halves, trials, strict=True)]
    tried = sum(map(len, halves))
    spread = [
        rate * len(rates) / sum(rates) for rate in rates
    ]  # of few texts each takes longer: only their ratio counts
    mean = together[0] / tried * count / busy
    size = _bytes_of_text(request.model, sample, together[2])
    return CorpusCost(
        count,
        workers,
        mean + START,
        mean * min(spread) * 0.9 + START / 2,
        mean * max(spread) * 1.1 + START * 2,
        round(together[1] / tried * count),
        round(size * count),
        tried,
    )


def _sampled(shards: Iterable[Sequence[Example]]) -> tuple[int, list[Example]]:
    """How many texts there are, and a sample of them, by a reservoir."""
    draw, count, sample = random.Random(0), 0, list[Example]()
    for examples in shards:
        for example in examples:
            count += 1
            if len(sample) < SAMPLED:
                sample.append(example)
            elif (place := draw.randrange(count)) < SAMPLED:
                sample[place] = example
    return count, sample


def trial_cost(
    texts: Sequence[Text], length: Callable[[Text], int], workers: int, run: Callable[[Sequence[Text]], int | None]
) -> CorpusCost:
    """What work on texts will cost, from 16 of them. run: does it for some, and returns how many texts the model read;
    None where that is not counted. Raises `BadInput` without texts.
    """
    if not texts:
        raise BadInput("There is no text to try, so there is no estimate; give some.")
    halves = _halves(texts, length, TRIED // 2)
    run(halves[0][:1])  # the first pass is slower than the next
    trials = [_timed(run, half, workers) for half in halves]
    rates = [seconds / len(half) for half, (seconds, _) in zip(halves, trials, strict=True)]
    tried, busy = sum(map(len, halves)), min(workers, os.cpu_count() or 1)
    share, start = len(texts) / tried, START if workers > 1 else 0.0
    seconds, counts = sum(seconds for seconds, _ in trials) * share / busy, [count for _, count in trials]
    evaluations = None if None in counts else round(sum(filter(None, counts)) * share)
    low, high = (edge(rates) * len(texts) / busy for edge in (min, max))
    return CorpusCost(
        len(texts), workers, seconds + start, low * 0.9 + start / 2, high * 1.1 + start * 2, evaluations, None, tried
    )


def characters(example: Example) -> int:
    """How long a text is."""
    return sum(map(len, example.segments))


def _timed(
    run: Callable[[Sequence[Text]], int | None], texts: Sequence[Text], workers: int
) -> tuple[float, int | None]:
    """Seconds by as many threads as a worker has, and what `run` returns."""
    threads = torch.get_num_threads()
    torch.set_num_threads(max(1, threads // workers))
    try:
        began = perf_counter()
        count = run(texts)
        return perf_counter() - began, count
    finally:
        torch.set_num_threads(threads)


def _halves(sample: Sequence[Text], length: Callable[[Text], int], most: int = TRIED) -> list[list[Text]]:
    """Two groups of texts, each spread over the lengths."""
    ordered = sorted(sample, key=length)
    n_tried = min(most, len(ordered))
    tried = [ordered[len(ordered) * (2 * index + 1) // (2 * n_tried)] for index in range(n_tried)]
    return [half for half in (tried[::2], tried[1::2]) if half]


def _trial(request: Request, examples: Sequence[Example]) -> tuple[float, int, Tried]:
    """Seconds, evaluated rows and explanations of texts that share passes, by one thread as a worker has."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        began, scheduler = perf_counter(), scheduler_for(request.model)
        by_method = explain_batch(request, request.model.encode(examples), scheduler, silent)
        for explanations in by_method.values():
            _file_size([shard_record(explanation) for explanation in explanations])
        return perf_counter() - began, scheduler.rows_run + len(examples), by_method
    finally:
        torch.set_num_threads(threads)


# Bytes: a shard compresses better than 32 texts, above all the names of its pieces. So a whole one is put together of
# texts of the sample, each with the scores and the answer of a text that was tried.


def _bytes_of_text(model: Model, sample: Sequence[Example], tried: Tried) -> float:
    """Bytes of a text in a full shard, by all methods."""
    texts = sample[:: -(-len(sample) // SHARD)]
    pieces = model.encode(texts).units
    return sum(_method_bytes(explanations, texts, pieces) for explanations in tried.values())


def _method_bytes(tried: Sequence[Explanation], texts: Sequence[Example], pieces: Sequence[Units]) -> float:
    """Bytes of a text by one method; where its units are no words or pieces, of the tried texts alone."""
    kind = tried[0].units.kind
    if kind not in ("piece", "word"):
        return _file_size([shard_record(explanation) for explanation in tried]) / len(tried)
    draw = np.random.default_rng(0)
    records = []
    for text, units, explanation in zip(texts, pieces, cycle(tried)):
        units = coarsen(units, cast(Kind, kind), text.segments)[0]
        shape = (*explanation.scores.shape[:-1], len(units))
        scores = draw.choice(explanation.scores.ravel(), shape) * draw.uniform(0.5, 1.0, shape)
        answer = replace(explanation, example=text, units=units, scores=scores.astype(np.float32))
        records.append(_varied(shard_record(answer), float(draw.uniform(0.5, 1.0))))
    return _file_size(records) / len(records)


def _varied(record: ShardRecord, factor: float) -> ShardRecord:
    """The record with other numbers: equal ones of two texts would compress better than they do."""
    varied = lambda value: float(np.float32(value * factor))  # noqa: E731 - as a network computes them
    diagnostics: Any = [{**each, "value": each["value"] * factor} for each in record["diagnostics"]]
    return {
        **record,
        "logits": [varied(value) for value in record["logits"]],
        "probabilities": [varied(value) for value in record["probabilities"]],
        "target_value": varied(record["target_value"]),
        "diagnostics": diagnostics,
    }


def _file_size(records: Sequence[ShardRecord]) -> int:
    """Bytes of a shard with these records."""
    table = arrow_table(records, RECORD_SCHEMA, "Cannot estimate")
    digests = [blake2b(bytes([row % 256, row // 256]), digest_size=DIGEST).digest() for row in range(len(records))]
    content = BytesIO()
    write_checked([numbered(table, np.arange(len(records)), digests)], SHARD_SCHEMA, content)
    return len(content.getvalue())
