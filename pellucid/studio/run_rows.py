"""What is known of every row of a run, in a few bytes each: answers, labels, probabilities, mistakes, cautions.

All shards are read once, a few columns of each, by as many threads as there are cores; then any choice of rows among a
million takes a fraction of a second, and no question is ever written as SQL.
"""

import os
import threading
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from pellucid.base.errors import BadFile
from pellucid.base.kinds import attributions
from pellucid.base.processes import Progress
from pellucid.corpus.folder import AGAIN, FIRST, SHARD
from pellucid.corpus.record import Run
from pellucid.results.explanation import Explanation, Prediction
from pellucid.results.storage import check_values
from pellucid.studio.record import Studio
from pellucid.studio.work import PATIENCE, StillComputing

NOT_THERE = -1  # the answer of a row that failed or is not computed yet, the label of a row without one
UNKNOWN, RIGHT, WRONG = 0, 1, 2
COLUMNS = ("row", "label", "predicted", "classes", "logits", "probabilities", "caveats")
TOGETHER = 16  # shards that a thread reads before it hands them over: each change of threads costs as much as a shard
NAMES = ("label", "predicted")  # columns that repeat few values
REST = 20.0  # a run that grows is read again after so many times what reading it took


@dataclass(frozen=True, eq=False)
class RunRows:
    """All rows of a run, failed ones and those to come too.

    names: of answers and labels. answers, labels: [row] the place of a name; -1: none. probability: [row] of the
    answer; nan where there is none. outcome: [row] 1 where the answer is the label, 2 where it is another class, else
    0. cautions: [row] how many an explanation has.
    """

    names: tuple[str, ...]
    answers: np.ndarray
    labels: np.ndarray
    probability: np.ndarray
    outcome: np.ndarray
    cautions: np.ndarray

    @property
    def rows(self) -> np.ndarray:
        """The rows that have an explanation, in order."""
        return np.flatnonzero(self.answers != NOT_THERE)

    def counts(self, codes: np.ndarray) -> dict[str, int]:
        """How often each name stands in some codes, the most frequent first."""
        counts = np.bincount(codes[codes != NOT_THERE], minlength=len(self.names))
        order = np.argsort(-counts, kind="stable")[: np.count_nonzero(counts)]
        return {self.names[code]: int(counts[code]) for code in order}


@dataclass(eq=False)
class OpenRun:
    """A run with what was read of it for pages. lock: of the run, whose shards are read by one reader at a time.

    orders: the latest choices of rows, which pages cut. columns: what was computed of all rows for a choice.
    """

    run: Run
    rows: RunRows | None = None
    shards: int = -1
    seconds: float = 0.0
    read: float = 0.0  # when it was read
    lock: threading.Lock = field(default_factory=threading.Lock)
    orders: "Latest" = field(default_factory=lambda: Latest(4))
    columns: "Latest" = field(default_factory=lambda: Latest(4))

    @property
    def facts(self) -> RunRows:
        """What was read; `refresh` comes first."""
        assert self.rows is not None
        return self.rows

    def is_current(self) -> bool:
        """Whether no shard came since it was read; or that was a moment ago, so that not each click reads it."""
        if self.rows is None:
            return False
        return len(self.run.folder.receipts()) == self.shards or time.monotonic() - self.read < REST * self.seconds

    def explanations(self, rows: Sequence[int]) -> tuple[Explanation, ...]:
        """The explanations of rows, whose shards are let go of at once: fifty rows can lie in fifty."""
        with self.lock:
            explanations = self.run.of_rows(rows)
        pa.default_memory_pool().release_unused()
        return explanations

    def refresh(self, progress: Progress) -> None:
        """Read all shards that are there; raises `BadFile` for damaged ones."""
        began, shards = time.monotonic(), sorted(self.run.folder.receipts())
        self.rows = run_rows(self.run, shards, progress)
        self.orders, self.columns = Latest(4), Latest(4)
        self.shards, self.read = len(shards), time.monotonic()
        self.seconds = self.read - began


def opened_run(studio: Studio, title: str, reader: str, patience: float = PATIENCE) -> OpenRun:
    """What is known of all rows of a run; raises as `Desk.answer` while they are read."""
    stored = studio.run(title)
    opened: OpenRun = studio.open_runs.setdefault(title, OpenRun(stored))
    if not opened.is_current():
        question = ("rows", len(stored.folder.receipts()))
        studio.desks[f"run {title}"].answer(question, reader, opened.refresh, patience=patience)
    return opened


def read_ahead(studio: Studio) -> None:
    """Begin to read all runs, and look for all methods, so that the first page of each need not wait for it."""
    attributions.names()
    for title in studio.runs:
        with suppress(StillComputing):
            opened_run(studio, title, "studio", patience=0)


class Latest:
    """The values that were asked for last. most: so many."""

    def __init__(self, most: int) -> None:
        self._most, self._values, self._lock = most, OrderedDict[object, Any](), threading.Lock()

    def get(self, key: object) -> Any:
        """The value; None where it is not there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
            return self._values.get(key)

    def set(self, key: object, value: Any) -> None:
        """Remember a value; the one that was not asked for longest is forgotten."""
        with self._lock:
            self._values[key] = value
            while len(self._values) > self._most:
                self._values.popitem(last=False)


def run_rows(run: Run, shards: Sequence[int], progress: Progress) -> RunRows:
    """The rows of these shards, read from their files; raises `BadFile` for damaged ones."""
    count, first = run.job.rows, np.asarray(run.folder.array(FIRST))
    names = _Names()
    rows = RunRows(
        (),
        np.full(count, NOT_THERE, np.int32),
        np.full(count, NOT_THERE, np.int32),
        np.full(count, np.nan, np.float32),
        np.zeros(count, np.int8),
        np.zeros(count, np.uint8),
    )
    kinds = np.full(count, NOT_THERE, np.int32)  # the classes that an answer was one of; -1: it is no mistake
    of_kind = dict[tuple[str, ...], int]()
    for shard in read_shards(shards, partial(_shard_facts, run), progress):
        rows.answers[shard.rows] = names.codes(shard.answers)
        rows.labels[shard.rows] = names.codes(shard.labels)
        rows.probability[shard.rows] = shard.probability
        rows.cautions[shard.rows] = shard.cautions
        codes = [of_kind.setdefault(classes, len(of_kind)) for classes in shard.classes]
        kinds[shard.rows] = np.array([*codes, NOT_THERE])[shard.kinds]
    if run.job.distinct < count:
        for values in (rows.answers, rows.labels, rows.probability, rows.cautions, kinds):
            values[:] = values[first]
        again = sorted({int(row) // SHARD for row in np.flatnonzero(first != np.arange(count))})
        for shard_rows, labels in read_shards(again, partial(_shard_labels, run), progress):
            rows.labels[shard_rows] = names.codes(labels)
    for classes, code in of_kind.items():
        known = [names.known[label] for label in classes if label in names.known]
        is_judged = (kinds == code) & np.isin(rows.labels, known)
        rows.outcome[is_judged] = np.where(rows.labels[is_judged] == rows.answers[is_judged], RIGHT, WRONG)
    return RunRows(tuple(names.known), rows.answers, rows.labels, rows.probability, rows.outcome, rows.cautions)


def read_shards(shards: Sequence[int], read: Any, progress: Progress) -> Iterator[Any]:
    """What a function makes of each shard, in order, by several threads."""
    groups = [shards[start : start + TOGETHER] for start in range(0, len(shards), TOGETHER)]
    done = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for answers in pool.map(lambda group: [read(shard) for shard in group], groups):
            done += len(answers)
            progress("reading the run", done, len(shards))
            yield from answers
    pa.default_memory_pool().release_unused()


def columns_of(path: Path, columns: Sequence[str]) -> pa.Table:
    """Some columns of a shard's file, whose pages are checked as they are read; raises `BadFile` for a damaged one."""
    try:
        repeated = [column for column in NAMES if column in columns]
        with pq.ParquetFile(path, page_checksum_verification=True, read_dictionary=repeated) as file:
            check_values(path, file.metadata)
            return file.read(columns=list(columns), use_threads=False).combine_chunks()
    except (pa.ArrowException, OSError, LookupError):
        raise BadFile(f"{path} is damaged; {AGAIN}.") from None


def shard_columns(run: Run, shard: int, columns: Sequence[str]) -> pa.Table:
    """Some columns of a shard, a line a row: of several methods those of the first, since all explain one answer."""
    path = run.folder.shard_file(shard)
    if len(run.methods) == 1:
        return columns_of(path, columns)
    table = columns_of(path, (*columns, "method"))
    return table.filter(pc.equal(table.column("method"), run.methods[0])).drop_columns("method").combine_chunks()


@dataclass(frozen=True, eq=False)
class _ShardFacts:
    """The facts of a shard's rows. kinds: [row] the place in `classes` of those that a mistake is one of; -1: none."""

    rows: np.ndarray
    answers: pa.Array
    labels: pa.Array
    probability: np.ndarray
    cautions: np.ndarray
    classes: Sequence[tuple[str, ...]]
    kinds: np.ndarray


def _shard_facts(run: Run, shard: int) -> _ShardFacts:
    table = shard_columns(run, shard, COLUMNS)
    column = {name: _flat(table.column(name)) for name in COLUMNS}
    rows = column["row"].to_numpy(zero_copy_only=False)
    if len(rows) and not 0 <= rows.min() <= rows.max() < run.job.rows:
        raise BadFile(f"{run.folder.shard_file(shard)} is of another run; {AGAIN}.")
    cautions = pc.list_value_length(column["caveats"]).to_numpy(zero_copy_only=False)
    probability, classes, kinds = _alike(column) or _each(column)
    counts = np.minimum(cautions, 255)
    return _ShardFacts(rows, column["predicted"], column["label"], probability, counts, classes, kinds)


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)


# The probability of each answer, and of which classes a mistake is one: (probability, classes, kinds).

Answered = tuple[np.ndarray, Sequence[tuple[str, ...]], np.ndarray]


def _each(column: dict[str, pa.Array]) -> Answered:
    """Row by row, where classes differ from row to row."""
    names = ("predicted", "classes", "logits", "probabilities")
    records = zip(*(column[name].to_pylist() for name in names), strict=True)
    answers = [Prediction(label, *map(tuple, values)) for label, *values in records]
    classes = dict[tuple[str, ...], int]()
    kinds = [
        classes.setdefault(answer.labels, len(classes))
        if answer.probabilities and not answer.gives_several
        else NOT_THERE
        for answer in answers
    ]
    probability = np.array([answer.probability for answer in answers], np.float32)
    return probability, list(classes), np.array(kinds, np.int64)


def _alike(column: dict[str, pa.Array]) -> Answered | None:
    """The same at once where all rows have the same classes; None where they differ, or have no probabilities."""
    count, same = len(column["row"]), same_classes(column["classes"], column["probabilities"])
    if same is None:
        return None
    classes, (chances,) = same
    logits = column["logits"].flatten().to_numpy()
    places = np.array([classes.index(label) for label in column["predicted"].dictionary.to_pylist()])
    answers = places[column["predicted"].indices.to_numpy()]
    probability = chances[np.arange(count), answers].astype(np.float32)
    has_both = len(classes) > 1 and logits.size == chances.size
    several = has_both and _gives_several(logits.reshape(chances.shape), chances)
    return probability, [classes], np.where(several, NOT_THERE, np.zeros(count, np.int64))


def same_classes(classes: pa.Array, *values: pa.Array) -> tuple[tuple[str, ...], list[np.ndarray]] | None:
    """The classes of all rows, and lists of numbers as matrices [row class]; None where rows differ in classes."""
    lengths = {length for lists in (classes, *values) for length in pc.unique(pc.list_value_length(lists)).to_pylist()}
    if len(lengths) != 1 or not (width := lengths.pop()):
        return None
    encoded = classes.flatten().dictionary_encode()
    orders = encoded.indices.to_numpy().reshape(-1, width)
    if (orders != orders[0]).any():
        return None
    names = tuple(encoded.dictionary[index].as_py() for index in orders[0].tolist())
    return names, [lists.flatten().to_numpy().reshape(-1, width) for lists in values]


def _gives_several(logits: np.ndarray, chances: np.ndarray) -> np.ndarray:
    """[row] as `Prediction.gives_several`."""
    with np.errstate(over="ignore"):
        alone = 1 / (1 + np.exp(-logits))
    powers = np.exp(logits - logits.max(1, keepdims=True))
    together = powers / powers.sum(1, keepdims=True)
    is_alone, is_together = ((np.abs(chances - values) <= 1e-9 * values).all(1) for values in (alone, together))
    return is_alone & ~is_together


def _shard_labels(run: Run, shard: int) -> tuple[np.ndarray, pa.Array]:
    """The labels of a shard's rows as the data have them: those of equal texts can differ."""
    table = columns_of(run.folder.rows_file(shard), ("row", "label"))
    return _flat(table.column("row")).to_numpy(zero_copy_only=False), _flat(table.column("label"))


class _Names:
    """A code for each name, in the order in which they came. known: name -> code."""

    def __init__(self) -> None:
        self.known: dict[str, int] = {}

    def codes(self, values: pa.Array) -> np.ndarray:
        """[value] its code; -1 for none."""
        codes = [self.known.setdefault(name, len(self.known)) for name in values.dictionary.to_pylist()]
        table = np.array([*codes, NOT_THERE])
        return table[values.indices.fill_null(len(codes)).to_numpy(zero_copy_only=False)]
