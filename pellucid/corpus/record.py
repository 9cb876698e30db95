"""A run: the explanations of a corpus, read from its folder when they are needed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from itertools import groupby
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa

from pellucid.base.errors import BadFile, Failure
from pellucid.base.files import disk_errors, is_address
from pellucid.base.kinds import readers, renderers
from pellucid.corpus.folder import AGAIN, FIRST, JOB, KEYS, REUSED, SHARD, Job, RunFolder, difference, digest_of
from pellucid.corpus.plan import read_rows
from pellucid.corpus.shard import RECORD_SCHEMA, ROW, Reused, no_reused
from pellucid.corpus.stored_run import run_folder
from pellucid.results.class_words import MIN_TEXTS, ClassWords, class_words
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import from_record
from pellucid.results.results import Places, Results, Stored, StoredExplanations
from pellucid.results.storage import FORM, bounded_table, check_fitting
from pellucid.text.example import Example

SHOWN = 5  # texts in a notebook
OPEN_SHARDS = 8  # that are in memory at once, about 2 MB each for texts of 20 words


class Run(StoredExplanations):
    """The explanations of a corpus, in the order of its rows; they are read from the folder when they are needed.

    path: its folder or address, from `explain_corpus`. method: one of its methods, by title; None: all, of several one
    after the other, as `by_method` has them apart. A row of equal text has the scores of the first such row, with its
    own id, label and meta. Rows that failed, or are not computed yet, are left out. A slice is `Results`, in memory.
    Raises `BadFile` for a folder without a run, and for a shard that was damaged since.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> run = pellucid.explain_corpus(model, ["A good film.", "Dull."], folder="runs/two", progress=False)
    >>> run
    <Run of 2 texts by occlusion: whole>
    >>> run[1].answer, run[:1]
    ('negative', <Results: 1 explanation by occlusion>)
    """

    def __init__(self, path: str | Path, method: str | None = None) -> None:
        self.folder = run_folder(path)
        self.path = self.folder.path
        job = self.folder.job()
        if job is None:
            raise BadFile(
                f"{self.folder.title} holds no run; give the folder of one: {JOB} is in it once its rows are read."
            )
        self.job: Job = job
        self.methods = tuple(job.methods) if method is None else (method,)
        self._first = self.folder.array(FIRST)
        if self._first.shape != (job.rows,) or self._first.dtype != np.int64:
            raise BadFile(f"{self.folder.title} holds a plan of other rows than it says; {AGAIN}.")
        self._available = _available(self.folder, job, self._first)
        self._shards: OrderedDict[int, _Shard] = OrderedDict()
        self._examples_of: OrderedDict[int, list[Example]] = OrderedDict()

    def __repr__(self) -> str:
        state = "whole" if self.is_whole else f"{len(self._available):,} of them so far"
        return f"<Run of {self.job.rows:,} text{'' if self.job.rows == 1 else 's'} by {self.method}: {state}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it: what it is, and its first texts."""
        return f"<p>{escape(repr(self))}</p>{renderers.get('notebook_results').make(self[:SHOWN])}"

    @property
    def is_whole(self) -> bool:
        """Whether every row was computed, or has failed."""
        return len(self.folder.receipts()) == self.job.shards

    @property
    def method(self) -> str:
        """The method with the settings that were changed; of several all of them."""
        return ", ".join(self.methods)

    @property
    def by_method(self) -> dict[str, Run]:
        """Each method's title with the explanations by it alone."""
        return {title: Run(self.folder.place, title) for title in self.methods}

    @property
    def failures(self) -> list[Failure]:
        """The rows that failed, in order, each with row, id and reason; rows of equal text are not named again."""
        return list(self.folder.failures(self.job))

    @property
    def texts(self) -> Stored[Example]:
        """The text of each explanation; failed ones have none."""
        return _TextsOfRun(self)

    @property
    def examples(self) -> Iterator[Example]:
        """The texts of all rows, in order, failed ones too."""
        for shard in range(self.job.shards):
            yield from self._examples(shard)

    def __len__(self) -> int:
        return len(self._available) * len(self.methods)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> Results: ...
    def __getitem__(self, index: int | slice) -> Explanation | Results:
        if isinstance(index, slice):
            places = range(len(self))[index]
            return Results(tuple(self.at(places)), numbers=tuple(places))
        return next(self.at([range(len(self))[index]]))

    def at(self, places: Places) -> Iterator[Explanation]:
        """The explanations at some places of all; each shard is asked once a method."""
        count = len(self._available)
        for method, of_method in groupby(places, lambda place: place // count):
            yield from self.of_rows([int(self._available[place % count]) for place in of_method], self.methods[method])

    def words(self, *, min_texts: int = MIN_TEXTS) -> ClassWords:
        """The words that speak for and against each class, by their mean scores over the texts, as of `Results`.

        min_texts: words that occur in fewer texts are left out. The texts are read one after the other.
        """
        return class_words(self, min_texts=min_texts)

    def query(self, sql: str) -> pa.Table:
        """The rows that a SELECT of the views of a run gives, by DuckDB (extra `query`).

        texts: row, id, text, label, method, predicted, probability, target, value, caveats; a row a text and method.
        words: row, method, place, segment, word, score, predicted, target, without special tokens; of several rows of
        scores the first. spans, of methods that score them: row, method, place, segment, span, parts (how many), score,
        predicted, target. diagnostics: row, method, name, value. failures: row, first_id, reason. runs: one row, what
        is asked and how far it is. Only this run is read.
        Raises `BadInput` for any other statement.

        >>> run.query("select predicted, count(*) as n from texts group by all order by 1").to_pylist()
        [{'predicted': 'negative', 'n': 1}, {'predicted': 'positive', 'n': 1}]
        """
        from pellucid.corpus.query import query_run

        return query_run(self.folder, self.job, sql)

    @property
    def distinct(self) -> np.ndarray:
        """The places of the explanations of different texts: of equal ones the first."""
        rows = np.asarray(self._available)
        return np.flatnonzero(self._first[rows] == rows)

    @property
    def rows(self) -> range | np.ndarray:
        """The numbers of the rows that have an explanation, in order."""
        return self._available

    @property
    def reused(self) -> int:
        """How many rows were copied from an earlier run."""
        receipts = (self.folder.receipt(self.job, shard) for shard in self.folder.receipts())
        return sum(receipt.reused for receipt in receipts if receipt is not None)

    def of_rows(self, rows: Sequence[int], method: str | None = None) -> tuple[Explanation, ...]:
        """The explanations of rows by their numbers in the data, in order, by a method (None: the first of the run);
        raises `BadFile` where a row has none.
        """
        records = self.table(rows, self.methods[0] if method is None else method).to_pylist()
        return tuple(self._explained(row, record) for row, record in zip(rows, records, strict=True))

    def table(self, rows: Sequence[int], method: str) -> pa.Table:
        """The saved records of rows by a method, in order, or those of the first rows of equal text."""
        firsts = self._first[np.asarray(rows, dtype=np.int64)]
        parts, places = list[pa.Table](), list[np.ndarray]()
        for shard in np.unique(firsts // SHARD).tolist():
            of_shard = np.flatnonzero(firsts // SHARD == shard)
            try:
                parts.append(self._shard(shard).take(firsts[of_shard].tolist(), method))
            except LookupError as error:
                raise BadFile(f"{self.folder.title} has no explanation of row {error} in its shard; {AGAIN}.") from None
            places.append(of_shard)
        if not parts:
            return RECORD_SCHEMA.empty_table()
        return parts[0] if len(parts) == 1 else pa.concat_tables(parts).take(np.argsort(np.concatenate(places)))

    def _explained(self, row: int, record: Any) -> Explanation:
        first = int(self._first[row])
        explanation = _explanation(record, self.folder.shard_file(first // SHARD))
        return explanation if row == first else _of_example(explanation, self._examples(row // SHARD)[row % SHARD])

    def _shard(self, shard: int) -> _Shard:
        if shard not in self._shards:
            self._shards[shard] = _Shard.read(self.folder, self.job, shard)
        return _recent(self._shards, shard)

    def _examples(self, shard: int) -> list[Example]:
        if shard not in self._examples_of:
            self._examples_of[shard] = read_rows(self.folder, shard)
        return _recent(self._examples_of, shard)


@dataclass(frozen=True, eq=False)
class _TextsOfRun(Stored[Example]):
    """The texts of the rows that have an explanation, read without their scores."""

    run: Run

    def __len__(self) -> int:
        return len(self.run)

    def at(self, places: Places) -> Iterator[Example]:
        """See `Stored`."""
        rows = self.run.rows
        for place in places:
            row = int(rows[place % len(rows)])
            yield self.run._examples(row // SHARD)[row % SHARD]


def _recent(cache: OrderedDict[int, Any], shard: int) -> Any:
    """The entry of a shard; of many the one that was not read for longest is dropped."""
    cache.move_to_end(shard)
    while len(cache) > OPEN_SHARDS:
        cache.popitem(last=False)
    return cache[shard]


def _available(folder: RunFolder, job: Job, first: np.ndarray) -> range | np.ndarray:
    """The rows that have an explanation, in order."""
    whole = folder.receipts()
    failed = [failure.row for failure in folder.failures(job)]
    if len(whole) == job.shards and not failed:
        return range(job.rows)
    is_whole = np.zeros(job.shards, dtype=bool)
    is_whole[[shard for shard in whole if shard < job.shards]] = True
    return np.flatnonzero(is_whole[first // SHARD] & ~np.isin(first, failed))


def _explanation(record: Any, path: Path) -> Explanation:
    try:
        explanation = from_record(record)
        check_fitting(explanation)
    except (ValueError, LookupError, TypeError):
        raise BadFile(f"{path} does not hold explanations; {AGAIN}.") from None
    return explanation


def _of_example(explanation: Explanation, example: Example) -> Explanation:
    return replace(explanation, example=example)


@dataclass(frozen=True)
class _Shard:
    """A shard in memory. places: by method, row -> where its record stands."""

    records: pa.Table
    places: dict[str, dict[int, int]]

    @classmethod
    def read(cls, folder: RunFolder, job: Job, shard: int) -> _Shard:
        """The shard; raises `BadFile` where the file is not the one of its receipt."""
        folder.fetch_shards(job, [shard])
        path, receipt = folder.shard_file(shard), folder.receipt(job, shard)
        with disk_errors("read", path):
            content = path.read_bytes()
        if receipt is None or digest_of(content) != receipt.digest:
            raise BadFile(f"{folder.named(path)} was damaged after it was written; {AGAIN}.")
        table = bounded_table(path, FORM, pa.schema([ROW, *RECORD_SCHEMA]))
        places: dict[str, dict[int, int]] = {title: {} for title in job.methods}
        methods, rows = (table.column(name).to_pylist() for name in ("method", "row"))
        for place, (method, row) in enumerate(zip(methods, rows, strict=True)):
            places.setdefault(method, {})[row] = place
        return cls(table.drop_columns("row"), places)

    def take(self, rows: Sequence[int], method: str) -> pa.Table:
        """The records of some rows by a method; raises `LookupError` for one that is not there."""
        places = [self.places[method][row] for row in rows]
        return self.records.slice(places[0], 1) if len(places) == 1 else self.records.take(places)


def open_run(folder: str | Path) -> Run:
    """The run in a folder, whole or as far as it is computed by now; the model is not needed.

    folder: what `explain_corpus`, or `pellucid explain --out`, writes to: a path, or an address such as
        "s3://bucket/run", of which shards are copied when they are read.

    Returns the `Run`. Raises `BadFile` where the folder holds none.

    >>> pellucid.open_run("runs/two")
    <Run of 2 texts by occlusion: whole>
    """
    return Run(folder)


@readers.add()
def run_at(path: str | Path) -> Run | None:
    """The run in a folder, or at an address; None where there is something else."""
    if isinstance(path, Path):
        return Run(path) if (path / JOB).is_file() else None
    return None if run_folder(path).job() is None else Run(path)


# Rows of an earlier run whose text and question are the same are copied instead of computed. Which rows these are is
# decided in the plan, so that it does not depend on who computes when.

REUSE = "reuse"  # in a question, the folder of the earlier run
NOT_THERE = -1


def check_reusable(earlier: str | Path, question: dict[str, Any]) -> None:
    """Raise `BadFile` where the earlier folder holds no run, or one whose scores would be others."""
    job = open_run(earlier).job
    before, now = (
        {name: value for name, value in record.items() if name not in ("data", REUSE)}
        for record in (job.question, question)
    )
    if differing := difference(before, now):
        raise BadFile(f"Rows of {earlier} cannot be reused ({differing}); leave it away, or ask as that run did.")


def save_matches(folder: RunFolder, earlier: str | Path) -> None:
    """Write for each row the row of the earlier run that has its text and an explanation, or -1."""
    run = open_run(earlier)
    rows = np.asarray(run.rows)
    old, new = (np.ascontiguousarray(keys).view(np.uint64) for keys in (run.folder.array(KEYS), folder.array(KEYS)))
    order = rows[np.lexsort((old[rows, 1], old[rows, 0]))]
    places = np.searchsorted(old[order, 0], new[:, 0])
    places = np.minimum(places, max(0, len(order) - 1))
    matches = np.full(len(new), NOT_THERE, dtype=np.int64)
    if len(order):
        candidates = order[places]
        same = (old[candidates] == new).all(1)  # of two keys with one first half the second is computed again
        matches[same] = candidates[same]
    folder.save_array(REUSED, matches)


def reused_rows(folder: RunFolder, job: Job) -> Reused:
    """What gives the records of rows that the earlier run has; nothing where the question names no earlier run."""
    earlier = job.question.get(REUSE)
    if earlier is None:
        return no_reused
    copies = run_folder(str(earlier)).path  # `fetch_reused` has copied what is needed, and a child asks no store
    matches, run = folder.array(REUSED), _earlier_run(str(copies))

    def of_rows(rows: Sequence[int]) -> tuple[Sequence[int], dict[str, pa.Table]]:
        some = [row for row in rows if matches[row] != NOT_THERE]
        return some, {title: run.table(matches[some].tolist(), title) for title in job.methods}

    return of_rows


def fetch_reused(folder: RunFolder, job: Job, shard: int) -> None:
    """Copy what the rows of a shard have in an earlier run that is in an object store."""
    earlier = job.question.get(REUSE)
    if not is_address(earlier):
        return
    rows = job.rows_of(shard)
    matches = folder.array(REUSED)[rows.start : rows.stop]
    run = _earlier_run(earlier)
    firsts = run._first[matches[matches != NOT_THERE]]
    run.folder.fetch_shards(run.job, np.unique(firsts // SHARD).tolist())


@lru_cache(maxsize=2)
def _earlier_run(path: str) -> Run:
    return open_run(path)
