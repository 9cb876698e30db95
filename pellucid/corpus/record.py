"""A run: the explanations of a corpus, read from its folder when they are needed."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import Any, overload

import numpy as np
import pyarrow as pa

from pellucid.base.checks import changes
from pellucid.base.errors import BadFile, Failure
from pellucid.base.files import disk_errors, possible_path
from pellucid.base.kinds import readers, renderers
from pellucid.corpus.folder import AGAIN, FIRST, JOB, KEYS, REUSED, SHARD, Job, RunFolder, digest_of
from pellucid.corpus.plan import read_rows
from pellucid.corpus.shard import SHARD_SCHEMA, Reused, no_reused
from pellucid.results.class_words import MIN_TEXTS, ClassWords, class_words
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import from_record
from pellucid.results.results import Results
from pellucid.results.storage import FORM, SCHEMA, bounded_batches, check_fitting
from pellucid.text.example import Example

SHOWN = 5  # texts in a notebook
AT_ONCE = 256  # explanations that are read together
OPEN_SHARDS = 8  # that are in memory at once, about 2 MB each for texts of 20 words


class Run(Sequence[Explanation]):
    """The explanations of a corpus, in the order of its rows; they are read from the folder when they are needed.

    path: its folder, from `explain_corpus`. A row of equal text has the scores of the first such row, with its own id,
    label and meta. Rows that failed, or are not computed yet, are left out. A slice is `Results`, in memory. Raises
    `BadFile` for a folder without a run, and for a shard that was damaged since.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> run = pellucid.explain_corpus(model, ["A good film.", "Dull."], folder="runs/two", progress=False)
    >>> run
    <Run of 2 texts by occlusion: whole>
    >>> run[1].answer, run[:1]
    ('negative', <Results: 1 explanation by occlusion>)
    """

    def __init__(self, path: str | Path) -> None:
        self.path = possible_path(path)
        self.folder = RunFolder(self.path)
        job = self.folder.job()
        if job is None:
            raise BadFile(f"{self.path} holds no run; give the folder of one: {JOB} is in it once its rows are read.")
        self.job: Job = job
        self._first = self.folder.array(FIRST)
        if self._first.shape != (job.rows,) or self._first.dtype != np.int64:
            raise BadFile(f"{self.path} holds a plan of other rows than it says; {AGAIN}.")
        self._available = _available(self.folder, job, self._first)
        self._shards: OrderedDict[int, _Shard] = OrderedDict()
        self._examples_of: OrderedDict[int, list[Example]] = OrderedDict()

    def __repr__(self) -> str:
        state = "whole" if self.is_whole else f"{len(self):,} of them so far"
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
        """The method with the settings that were changed."""
        return str(self.job.question["method"])

    @property
    def failures(self) -> list[Failure]:
        """The rows that failed, in order, each with row, id and reason; rows of equal text are not named again."""
        return list(self.folder.failures(self.job))

    @property
    def examples(self) -> Iterator[Example]:
        """The texts of all rows, in order, failed ones too."""
        for shard in range(self.job.shards):
            yield from self._examples(shard)

    def __len__(self) -> int:
        return len(self._available)

    @overload
    def __getitem__(self, index: int) -> Explanation: ...
    @overload
    def __getitem__(self, index: slice) -> Results: ...
    def __getitem__(self, index: int | slice) -> Explanation | Results:
        if isinstance(index, slice):
            places = range(len(self))[index]
            return Results(self.of_rows([int(self._available[place]) for place in places]), numbers=tuple(places))
        return self._of_row(int(self._available[range(len(self))[index]]))

    def __iter__(self) -> Iterator[Explanation]:
        for first in range(0, len(self), AT_ONCE):
            yield from self[first : first + AT_ONCE]

    def words(self, *, min_texts: int = MIN_TEXTS) -> ClassWords:
        """The words that speak for and against each class, by their mean scores over the texts, as of `Results`.

        min_texts: words that occur in fewer texts are left out. The texts are read one after the other.
        """
        return class_words(self, min_texts=min_texts)

    def query(self, sql: str) -> pa.Table:
        """The rows that a SELECT of the views of a run gives, by DuckDB (extra `query`).

        texts: row, id, text, label, predicted, probability, target, value, caveats. words: row, place, segment, word,
        score, predicted, target, without special tokens; of several rows of scores the first. spans, of methods that
        score them: row, place, segment, span, parts (how many), score, predicted, target. diagnostics: row, name,
        value. failures: row, first_id, reason. runs: one row, what is asked and how far it is. Only this run is read.
        Raises `BadInput` for any other statement.

        >>> run.query("select predicted, count(*) as n from texts group by all order by 1").to_pylist()
        [{'predicted': 'negative', 'n': 1}, {'predicted': 'positive', 'n': 1}]
        """
        from pellucid.corpus.query import query_run

        return query_run(self.folder, self.job, sql)

    @property
    def rows(self) -> range | np.ndarray:
        """The numbers of the rows that have an explanation, in order."""
        return self._available

    @property
    def reused(self) -> int:
        """How many rows were copied from an earlier run."""
        receipts = (self.folder.receipt(self.job, shard) for shard in self.folder.receipts())
        return sum(receipt.reused for receipt in receipts if receipt is not None)

    def of_rows(self, rows: Sequence[int]) -> tuple[Explanation, ...]:
        """The explanations of rows by their numbers in the data, in order; raises `BadFile` where one has none."""
        return tuple(self._explained(row, record) for row, record in zip(rows, self.records(rows), strict=True))

    def record(self, row: int) -> Any:
        """The saved record of a row, or of the first row of equal text."""
        return self.records([row])[0]

    def records(self, rows: Sequence[int]) -> list[Any]:
        """Those of several rows, in order; each shard is asked once."""
        firsts = [int(self._first[row]) for row in rows]
        by_shard: dict[int, list[int]] = {}
        for first in firsts:
            by_shard.setdefault(first // SHARD, []).append(first)
        try:
            records = {
                first: record
                for shard, of_shard in by_shard.items()
                for first, record in zip(of_shard, self._shard(shard).records(of_shard), strict=True)
            }
        except LookupError as error:
            raise BadFile(f"{self.path} has no explanation of row {error} in its shard; {AGAIN}.") from None
        return [records[first] for first in firsts]

    def _of_row(self, row: int) -> Explanation:
        return self._explained(row, self.record(row))

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
    """A shard in memory. places: row -> where its record stands."""

    table: pa.Table
    places: dict[int, int]

    @classmethod
    def read(cls, folder: RunFolder, job: Job, shard: int) -> _Shard:
        """The shard; raises `BadFile` where the file is not the one of its receipt."""
        path, receipt = folder.shard_file(shard), folder.receipt(job, shard)
        with disk_errors("read", path):
            content = path.read_bytes()
        if receipt is None or digest_of(content) != receipt.digest:
            raise BadFile(f"{path} was damaged after it was written; {AGAIN}.")
        schema = pa.schema([SHARD_SCHEMA.field(name) for name in ("row", "word", *SCHEMA.names)])
        batches = list(bounded_batches(path, FORM, schema.names))
        table = pa.Table.from_batches([batch.select(schema.names) for batch in batches]) if batches else None
        table = schema.empty_table() if table is None else table
        rows = table.column("row").to_pylist()
        return cls(table.drop_columns("row"), {row: place for place, row in enumerate(rows)})

    def records(self, rows: Sequence[int]) -> list[Any]:
        """The records of some rows."""
        places = [self.places[row] for row in rows]
        if len(places) == 1:
            return self.table.slice(places[0], 1).to_pylist()
        return self.table.take(places).to_pylist()


def open_run(folder: str | Path) -> Run:
    """The run in a folder, whole or as far as it is computed by now; the model is not needed.

    folder: what `explain_corpus`, or `pellucid explain --out`, writes to.

    Returns the `Run`. Raises `BadFile` where the folder holds none.

    >>> pellucid.open_run("runs/two")
    <Run of 2 texts by occlusion: whole>
    """
    return Run(Path(folder))


@readers.add()
def run_at(path: Path) -> Run | None:
    """The run in a folder; None where it holds something else."""
    return Run(path) if (path / JOB).is_file() else None


# Rows of an earlier run whose text and question are the same are copied instead of computed. Which rows these are is
# decided in the plan, so that it does not depend on who computes when.

REUSE = "reuse"  # in a question, the folder of the earlier run
NOT_THERE = -1


def check_reusable(earlier: Path, question: dict[str, Any]) -> None:
    """Raise `BadFile` where the earlier folder holds no run, or one whose scores would be others."""
    job = open_run(earlier).job
    before, now = (
        {name: value for name, value in record.items() if name not in ("data", REUSE)}
        for record in (job.question, question)
    )
    if difference := changes(before, now):
        raise BadFile(f"Rows of {earlier} cannot be reused ({difference}); leave it away, or ask as that run did.")


def save_matches(folder: RunFolder, earlier: Path) -> None:
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
    matches, run = folder.array(REUSED), _earlier_run(str(earlier))

    def of_rows(rows: Sequence[int]) -> dict[int, Any]:
        some = [row for row in rows if matches[row] != NOT_THERE]
        return dict(zip(some, run.records([int(matches[row]) for row in some]), strict=True))

    return of_rows


@lru_cache(maxsize=1)
def _earlier_run(path: str) -> Run:
    return open_run(path)
