"""How the methods of a model are measured while its readers go on asking.

A measurement is a comparison in steps, a few texts each, and each step is a job of its own at the model's desk, so that
readers' questions come between. Its numbers are those of `compare` with the same texts, methods and seed. Two steps are
longer: a model that writes writes all its texts in the first, and the last one looks for a word that decides alone.
"""

import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import pairwise

from pellucid.base.checks import known, reason
from pellucid.base.errors import BadInput, PellucidError
from pellucid.base.kinds import attributions
from pellucid.base.processes import Progress, silent
from pellucid.comparison.compared_part import compared_part
from pellucid.comparison.comparison import Comparison
from pellucid.comparison.comparison_of import comparison_of
from pellucid.comparison.door import sentences_of_shortcuts
from pellucid.comparison.table import comparison_table
from pellucid.corpus.folder import SHARD
from pellucid.corpus.record import Run
from pellucid.explaining.inputs.readings import default_method, judged_target, usual_methods
from pellucid.run.model import Model
from pellucid.studio.explained import seconds_in_words
from pellucid.studio.explained import usual_methods as page_methods
from pellucid.studio.record import METHODS, Studio
from pellucid.studio.work import Desk, DeskJob, ReaderLeft, StillComputing, Work
from pellucid.text.example import Example
from pellucid.words.shortcuts import PASSES

TEXTS, MOST_TEXTS = 100, 2_000  # of a measurement, unless its reader asks for others; at most
STEP = 2  # texts of a step: a few seconds of a small classifier
BLOCKS = 8  # places of a run that texts come from: each is a shard to read
SAMPLED = 2  # texts that an estimate is made from, beside a first one that warms the model up
SURE = 4.0  # seconds of work before its pace is believed
READER = "measurements"  # who asks at a desk: its jobs take turns with those of readers


@dataclass(frozen=True)
class Wish:
    """What a reader wants measured. model, data: their names. n_texts: how many. methods: their names."""

    model: str
    data: str
    n_texts: int
    methods: tuple[str, ...]


def sources(studio: Studio, model: str) -> dict[str, Sequence[Example] | Run]:
    """What a model can be measured with, by name: the data of the studio, and the texts of runs by the same model."""
    digest = studio.model(model).hash
    data = {studio.data_name or "data": studio.data} if studio.data else {}
    runs = {name: run for name, run in studio.runs.items() if run.job.question.get("weights") == digest and len(run)}
    return {**data, **runs}


def offered(model: Model) -> list[str]:
    """The methods that can be measured: the usual ones and those of a page, without random scores, which are always
    measured too.
    """
    usual = [str(name) for name in usual_methods(model) if not attributions.get(str(name)).facts["floor"]]
    return list(dict.fromkeys([*usual, *page_methods(model)]))


def usual_wish(studio: Studio, model: str) -> Wish:
    """What is offered first: the model's usual method and occlusion, on the first data; `BadInput` without data."""
    data = sources(studio, model)
    if not data:
        raise BadInput(
            f"There are no texts to measure {model} with; start the studio with --data, or with a run of this model."
        )
    loaded = studio.model(model)
    methods = dict.fromkeys([default_method(loaded), *(name for name in ("occlusion",) if name in offered(loaded))])
    return Wish(model, next(iter(data)), min(TEXTS, len(next(iter(data.values())))), tuple(methods))


def checked_wish(studio: Studio, wish: Wish) -> Wish:
    """The wish; raises `UnknownName` or `BadInput` where it cannot be measured."""
    data, names = sources(studio, wish.model), offered(studio.model(wish.model))
    known("data of this studio", wish.data, data)
    for method in wish.methods:
        known("method of this model", method, names)
    if not 0 < len(wish.methods) <= METHODS:
        raise BadInput(f"{len(wish.methods)} methods were chosen; choose 1 to {METHODS}.")
    if not 0 < wish.n_texts <= MOST_TEXTS:
        raise BadInput(f"{wish.n_texts:,} texts cannot be measured here; give 1 to {MOST_TEXTS:,}, or use compare.")
    return replace(wish, n_texts=min(wish.n_texts, len(data[wish.data])))


def texts_of(data: Sequence[Example] | Run, count: int) -> list[Example]:
    """So many texts, evenly spread; of a run from a few of its shards, since each has to be read."""
    if not isinstance(data, Run):
        return [data[index * len(data) // count] for index in range(count)]
    blocks = min(BLOCKS, -(-len(data) // SHARD))
    firsts = [block * len(data) // blocks for block in range(blocks + 1)]
    examples = list[Example]()
    for block, (first, last) in enumerate(pairwise(firsts)):
        share = count * (block + 1) // blocks - count * block // blocks
        width = min(SHARD, last - first)
        examples += [data[first + index * width // share].example for index in range(share)]
    return examples


# How long a measurement takes, from a few texts.

Estimate = float | str  # seconds, or why it is not possible


def estimating(studio: Studio, wish: Wish) -> tuple[object, Work]:
    """The question of how long a measurement takes, and what answers it: a few texts of middle length are measured."""
    return ("estimate", wish), lambda progress: _estimate(studio, wish, progress)


def _estimate(studio: Studio, wish: Wish, progress: Progress) -> Estimate:
    examples = texts_of(sources(studio, wish.model)[wish.data], wish.n_texts)
    by_length = sorted(examples, key=lambda example: sum(map(len, example.segments)))
    count = min(SAMPLED, len(by_length))
    middle = [by_length[len(by_length) * (2 * index + 1) // (2 * count)] for index in range(count)]
    seconds = 0.0
    try:
        for done, some in enumerate((middle[:1], middle)):  # the first pass through a model is slower than the next
            progress("measuring a few texts", done, 2)
            began = time.perf_counter()
            compared_part(_comparison(studio, wish, some), 0, silent)
            seconds = time.perf_counter() - began
    except ReaderLeft:
        raise
    except Exception as error:  # of the model's own code, too
        return _in_words(error)
    return max(1.0, seconds * len(by_length) / count)  # shorter ones are not told apart


def _in_words(error: Exception) -> str:
    return str(error) if isinstance(error, PellucidError) else f"{type(error).__name__}: {reason(error)}"


# The measurement.


def _comparison(studio: Studio, wish: Wish, examples: Sequence[Example]) -> Comparison:
    model = studio.model(wish.model)
    target = judged_target(model, "predicted")
    comparison = comparison_of(
        model, examples, wish.methods, None, target=target, seed=0, resamples=1000, shortcut_passes=PASSES
    )
    return replace(comparison, examples_in_part=min(STEP, comparison.part_size))


@dataclass(eq=False)
class Measurement:
    """A measurement under way. job: how far it is. error: why it ended without a table, in a sentence. unpaced, began:
    how many texts the first step had, which warms the model up and says nothing of the others' pace; when it ended.
    """

    studio: Studio
    wish: Wish
    job: DeskJob = field(init=False)
    error: str = ""
    is_stopped: bool = False
    unpaced: int = 0
    began: float = field(default_factory=time.monotonic)

    def __post_init__(self) -> None:
        self.job = DeskJob(READER, lambda progress: None, stage="comparing", total=self.wish.n_texts)
        self._steps = self._all_steps()

    @property
    def is_running(self) -> bool:
        """Whether a step is left."""
        return not self.job.finished.is_set()

    @property
    def in_words(self) -> str:
        """How much is done, and about how long the rest takes."""
        done, total = self.job.done, self.job.total
        if done == total:
            return f"{done:,} of {total:,} texts; the last step looks for a word that decides alone"
        paced, seconds = done - self.unpaced, time.monotonic() - self.began
        left = f", {seconds_in_words(seconds / paced * (total - done))} left" if paced > 0 and seconds > SURE else ""
        return f"{done:,} of {total:,} texts{left}"

    def stop(self) -> None:
        """End it after the step that is being computed."""
        self.is_stopped = True

    def ask_for_step(self) -> None:
        """Put the next step among the jobs of the model's desk; raises `BadInput` where too many wait."""
        desk: Desk = self.studio.desks[self.wish.model]
        with suppress(StillComputing):
            desk.answer(object(), READER, self._step, is_lasting=True, patience=0)

    def _step(self, progress: Progress) -> None:
        """One step, after which the next is asked for; where too many wait already, that too."""
        while not self._is_over():
            try:
                self.ask_for_step()
            except BadInput:
                continue
            return
        self.job.finished.set()

    def _is_over(self) -> bool:
        """Whether nothing is left after one more step; whatever ends it is said on the page."""
        try:
            return self.is_stopped or next(self._steps)
        except Exception as error:  # of the model's own code, too
            self.error = _in_words(error)
            return True

    def _all_steps(self) -> Iterator[bool]:
        """Each step yields False; the last one keeps the table."""
        examples = texts_of(sources(self.studio, self.wish.model)[self.wish.data], self.wish.n_texts)
        comparison, judged = _comparison(self.studio, self.wish, examples), []
        for index in range(comparison.n_parts):
            judged.append(compared_part(comparison, index, self._report).judged)
            if index == 0:
                self.unpaced, self.began = self.job.done, time.monotonic()
            yield False
        shortcuts = sentences_of_shortcuts(comparison, silent)
        yield False
        table = comparison_table(comparison, judged, shortcuts=shortcuts)
        table = replace(table, about={**table.about, "data": self.wish.data})
        self.studio.comparisons[self.studio.model(self.wish.model).hash] = table
        yield True

    def _report(self, stage: str, done: int, total: int) -> None:
        self.job.stage, self.job.done, self.job.total = stage, done, total


def begin(studio: Studio, wish: Wish) -> Measurement:
    """Begin to measure; raises `BadInput` where the model is being measured already."""
    running = studio.measurements.get(wish.model)
    if running is not None and running.is_running:
        raise BadInput(f"{wish.model} is being measured already: {running.in_words}. Wait for it, or stop it first.")
    measurement = studio.measurements[wish.model] = Measurement(studio, checked_wish(studio, wish))
    measurement.ask_for_step()
    return measurement
