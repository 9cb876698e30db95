"""One shard: its rows explained in parts of 256, each with a scheduler of its own, as a file whose bytes follow from
question and rows alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from io import BytesIO
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from pellucid.base.checks import reason
from pellucid.base.errors import Failure, PellucidError, ServiceAway
from pellucid.base.processes import silent
from pellucid.corpus.folder import DIGEST, FIRST, INPUTS, KEYS, SHARD, Job, Receipt, RunFolder, digest_of
from pellucid.corpus.plan import examples_in, rows_table
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import ExplanationRecord, to_record
from pellucid.results.storage import SCHEMA, arrow_table, write_checked
from pellucid.text.example import Example
from pellucid.text.units import IN_WORDS, Units, coarse_index

if TYPE_CHECKING:  # torch takes seconds to import, and who reads shards needs none of it
    from pellucid.run.explaining import Request

PART = 256  # rows that share passes: in fewer, packs are padded more, and the guard asks about more of the texts
ROW, KEY = pa.field("row", pa.int64()), pa.field("key", pa.binary(DIGEST))
WORD = pa.field("word", pa.list_(pa.int32()))  # of each unit the number of its word, so that SQL can add pieces up
RECORD_SCHEMA = pa.schema([WORD, *SCHEMA])
SHARD_SCHEMA = pa.schema([ROW, KEY, *RECORD_SCHEMA], metadata=SCHEMA.metadata)


class ShardRecord(ExplanationRecord):
    """An explanation with the number of each unit's word; None of spans and of units larger than words."""

    word: list[int] | None


OfRow = Mapping[int, str]  # row -> why it is left out
Reused = Callable[[Sequence[int]], tuple[Sequence[int], Mapping[str, pa.Table]]]
"""Called with rows; those of them that an earlier run has, and by method's title their records, in that order."""


def no_reused(rows: Sequence[int]) -> tuple[Sequence[int], Mapping[str, pa.Table]]:
    """Nothing is copied."""
    return [], {}


@dataclass
class ShardWork:
    """Rows of one shard with what is known of them so far. records: by method's title, of each row."""

    folder: RunFolder
    job: Job
    shard: int
    records: dict[str, dict[int, ShardRecord]]
    failures: list[Failure] = field(default_factory=list)

    def distinct_rows(self) -> list[int]:
        """The rows that are computed here: those whose text no earlier row has."""
        rows = self.job.rows_of(self.shard)
        first = self.folder.array(FIRST)[rows.start : rows.stop]
        return [row for row, first_row in zip(rows, first.tolist(), strict=True) if row == first_row]


def parts_of(rows: Sequence[int]) -> list[Sequence[int]]:
    """The rows that share passes."""
    return [rows[start : start + PART] for start in range(0, len(rows), PART)]


def compute_shard(
    request: Request,
    folder: RunFolder,
    job: Job,
    shard: int,
    excluded: OfRow,
    report: Callable[[Sequence[int]], None],
    reused: Reused = no_reused,
) -> Receipt:
    """Explain a shard's rows and write its file. excluded: rows that end the process, which are failures.

    report: called with the rows of each part before it is computed. A row with an error is a failure, too.
    """
    work = ShardWork(folder, job, shard, {title: {} for title in job.methods})
    texts = rows_table(folder, shard)
    distinct = work.distinct_rows()
    copied, tables = reused(distinct)
    there = set(copied)
    new = [row for row in distinct if row not in there]
    examples = dict(zip(new, examples_in(_at(texts, new)), strict=True))
    work.failures += [Failure(row, examples[row].id, excluded[row]) for row in new if row in excluded]
    for part in parts_of([row for row in new if row not in excluded]):
        report(part)
        _explain_part(request, work, {row: examples[row] for row in part})
    content = _file_of(work, copied, tables, _at(texts, copied))
    work.failures.sort(key=lambda failure: failure.row)
    n_rows = len(distinct) - len(work.failures)
    receipt = Receipt(len(content), digest_of(content), n_rows, len(copied), work.failures)
    folder.write_shard(job, shard, content, receipt)
    return receipt


def _at(texts: pa.Table, rows: Sequence[int]) -> pa.Table:
    return texts.take(np.array(rows, dtype=np.int64) % SHARD)


def explain_rows(request: Request, examples: Sequence[Example]) -> dict[str, list[ShardRecord]]:
    """By method's title the records of some rows, which share passes with no others."""
    from pellucid.run.explaining import explain_batch
    from pellucid.run.packing import scheduler_for

    batch = request.model.encode(examples)
    by_method = explain_batch(request, batch, scheduler_for(request.model), silent)
    return {title: [shard_record(explanation) for explanation in of_method] for title, of_method in by_method.items()}


def shard_record(explanation: Explanation) -> ShardRecord:
    """The record of an explanation, with the word of each unit."""
    units, word = explanation.units, None
    if isinstance(units, Units) and units.kind in (*IN_WORDS, "word"):
        word = list(coarse_index(units, "word", explanation.example.segments))
    return {**to_record(explanation), "word": word}


def _explain_part(request: Request, work: ShardWork, examples: Mapping[int, Example]) -> None:
    """Explain rows together; where that fails, one by one, and those with an error are failures, by all methods."""
    try:
        for title, records in explain_rows(request, list(examples.values())).items():
            work.records[title] |= zip(examples, records, strict=True)
    except ServiceAway:  # no text is to blame: the run ends, and goes on another time
        raise
    except Exception as error:  # of the model's own code, too: one text must not end ten million
        if len(examples) > 1:
            for row, example in examples.items():
                _explain_part(request, work, {row: example})
            return
        row, example = next(iter(examples.items()))
        sentence = str(error) if isinstance(error, PellucidError) else f"{type(error).__name__}: {reason(error)}"
        work.failures.append(Failure(row, example.id, sentence))


def _file_of(work: ShardWork, copied: Sequence[int], tables: Mapping[str, pa.Table], texts: pa.Table) -> bytes:
    """The Parquet file of a shard, with the digests of question and rows in its footer: method by method, its rows in
    order.

    copied: rows of which an earlier run has the records, in tables, by method; texts: what these rows are now.
    """
    folder, job = work.folder, work.job
    facts = {b"run": job.digest.encode(), b"rows": np.array(folder.array(INPUTS)[work.shard]).tobytes().hex().encode()}
    schema = SHARD_SCHEMA.with_metadata({**(SHARD_SCHEMA.metadata or {}), **facts})
    methods = []
    for title, records in work.records.items():
        computed = arrow_table(list(records.values()), RECORD_SCHEMA, f"Cannot write shard {work.shard}")
        parts = [computed, _with_texts(tables[title], texts)] if copied else [computed]
        rows = np.array([*records, *copied], dtype=np.int64)
        order = np.argsort(rows)
        table = pa.concat_tables(parts).take(order)
        methods.append(numbered(table, rows[order], _keys(job, folder, title, rows[order])))
    content = BytesIO()
    write_checked([pa.concat_tables(methods).cast(schema).combine_chunks()], schema, content)
    return content.getvalue()


def _with_texts(records: pa.Table, texts: pa.Table) -> pa.Table:
    """Records of an earlier run with the examples of this one: equal texts may have other ids, labels and meta."""
    for name in texts.column_names:
        records = records.set_column(records.column_names.index(name), RECORD_SCHEMA.field(name), texts.column(name))
    return records.select(RECORD_SCHEMA.names).cast(RECORD_SCHEMA)


def _keys(job: Job, folder: RunFolder, title: str, rows: np.ndarray) -> list[bytes]:
    """[row] 16 bytes: of everything that the row's scores by a method depend on."""
    keys, of_question = folder.array(KEYS), blake2b(job.digest_of_question(title).encode(), digest_size=DIGEST)
    digests = []
    for row in rows.tolist():
        digest = of_question.copy()
        digest.update(keys[row].tobytes())
        digests.append(digest.digest())
    return digests


def numbered(records: pa.Table, rows: np.ndarray, keys: list[bytes]) -> pa.Table:
    """Records with the number and the key of each row."""
    table = records.add_column(0, KEY, pa.array(keys, KEY.type))
    return table.add_column(0, ROW, pa.array(rows, ROW.type))
