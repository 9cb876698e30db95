"""One shard: its rows explained in parts of 64, each with a scheduler of its own, as a file whose bytes follow from
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
from pellucid.corpus.folder import DIGEST, FIRST, INPUTS, KEYS, Job, Receipt, RunFolder, digest_of
from pellucid.corpus.plan import read_rows
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import ExplanationRecord, example_record, to_record
from pellucid.results.storage import SCHEMA, arrow_table, write_checked
from pellucid.text.example import Example
from pellucid.text.units import IN_WORDS, Units, coarse_index

if TYPE_CHECKING:  # torch takes seconds to import, and who reads shards needs none of it
    from pellucid.run.explaining import Request

PART = 64  # rows that share passes; in fewer, the guard asks about each text instead of a sample
ROW, KEY = pa.field("row", pa.int64()), pa.field("key", pa.binary(DIGEST))
WORD = pa.field("word", pa.list_(pa.int32()))  # of each unit the number of its word, so that SQL can add pieces up
SHARD_SCHEMA = pa.schema([ROW, KEY, WORD, *SCHEMA], metadata=SCHEMA.metadata)


class ShardRecord(ExplanationRecord):
    """An explanation with the number of each unit's word; None of spans and of units larger than words."""

    word: list[int] | None


OfRow = Mapping[int, str]  # row -> why it is left out
Reused = Callable[[Sequence[int]], Mapping[int, ShardRecord]]  # rows -> records of an earlier run for some


def no_reused(rows: Sequence[int]) -> Mapping[int, ShardRecord]:
    """Nothing is copied."""
    return {}


@dataclass
class ShardWork:
    """Rows of one shard with what is known of them so far."""

    folder: RunFolder
    job: Job
    shard: int
    records: dict[int, ShardRecord] = field(default_factory=dict)
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
    work = ShardWork(folder, job, shard)
    examples = dict(zip(job.rows_of(shard), read_rows(folder, shard), strict=True))
    distinct = work.distinct_rows()
    work.records |= {row: {**record, **example_record(examples[row])} for row, record in reused(distinct).items()}
    n_reused = len(work.records)
    work.failures += [Failure(row, examples[row].id, excluded[row]) for row in distinct if row in excluded]
    for part in parts_of([row for row in distinct if row not in work.records and row not in excluded]):
        report(part)
        _explain_part(request, work, {row: examples[row] for row in part})
    content = _file_of(work)
    work.failures.sort(key=lambda failure: failure.row)
    receipt = Receipt(len(content), digest_of(content), len(work.records), n_reused, work.failures)
    folder.write_shard(job, shard, content, receipt)
    return receipt


def explain_rows(request: Request, examples: Sequence[Example]) -> list[ShardRecord]:
    """The records of some rows, which share passes with no others."""
    from pellucid.run.explaining import explain_batch
    from pellucid.run.packing import scheduler_for

    batch = request.model.encode(examples)
    explanations = explain_batch(request, batch, scheduler_for(request.model), silent)
    return [_record(explanation) for explanation in next(iter(explanations.values()))]


def _record(explanation: Explanation) -> ShardRecord:
    units, word = explanation.units, None
    if isinstance(units, Units) and units.kind in (*IN_WORDS, "word"):
        word = list(coarse_index(units, "word", explanation.example.segments))
    return {**to_record(explanation), "word": word}


def _explain_part(request: Request, work: ShardWork, examples: Mapping[int, Example]) -> None:
    """Explain rows together; where that fails, one by one, and those with an error are failures."""
    try:
        work.records |= zip(examples, explain_rows(request, list(examples.values())), strict=True)
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


def _file_of(work: ShardWork) -> bytes:
    """The Parquet file of a shard, with the digests of question and rows in its footer."""
    folder, job = work.folder, work.job
    keys = folder.array(KEYS)
    of_question = blake2b(job.digest_of_question.encode(), digest_size=DIGEST)
    records = []
    for row in sorted(work.records):
        digest = of_question.copy()
        digest.update(keys[row].tobytes())
        records.append({"row": row, "key": digest.digest(), **work.records[row]})
    facts = {b"run": job.digest.encode(), b"rows": np.array(folder.array(INPUTS)[work.shard]).tobytes().hex().encode()}
    schema = SHARD_SCHEMA.with_metadata({**(SHARD_SCHEMA.metadata or {}), **facts})
    content = BytesIO()
    write_checked([arrow_table(records, schema, f"Cannot write shard {work.shard}")], schema, content)
    return content.getvalue()
