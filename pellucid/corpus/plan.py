"""The plan of a run: one pass over the data numbers the rows, cuts them into shards and finds equal texts.

It needs 16 bytes of memory a row for the digests of texts, and about as much again while they are sorted. The rows
are written beside the results, so that a process needs no pass over the data to compute a shard in the middle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, readable, whole_file
from pellucid.base.json_text import plain_json
from pellucid.base.manifest import Verification, names_below, verify_folder
from pellucid.base.processes import Progress
from pellucid.corpus.folder import (
    AGAIN,
    DIGEST,
    FAILURES,
    FILES,
    FIRST,
    INPUTS,
    JOB,
    KEYS,
    LEASES,
    REUSED,
    ROWS,
    SHARD,
    SHARDS,
    Job,
    RunFolder,
    digest_of,
)
from pellucid.corpus.stored_run import StoredFolder, run_folder
from pellucid.results.explanation_record import ExampleRecord, example_of, example_record
from pellucid.results.storage import EXAMPLE_COLUMNS, SCHEMA, arrow_table, bounded_table, write_checked
from pellucid.text.example import Example
from pellucid.text.passages import turns_of

if TYPE_CHECKING:  # what reads data takes seconds to import, and who reads a run needs none of it
    from pellucid.corpus.data import CorpusData

READING = "reading"
WAY_OUT = "put the data back as they were, give another folder, or remove this one"
ROWS_SCHEMA = pa.schema([SCHEMA.field(name) for name in EXAMPLE_COLUMNS])
ROWS_FORM = "pellucid-rows-1"
NUMBERED = pa.schema([pa.field("row", pa.int64()), *ROWS_SCHEMA], metadata={"form": ROWS_FORM})


def key_of(example: Example, by_label: bool) -> bytes:
    """16 bytes for the texts of an example, with its label where what is explained depends on it."""
    turns = [list(vars(turn).values()) for turn in turns_of(example)]  # of a chat: its template's text is no word of it
    parts = [example.segments, example.label if by_label else None, *([turns] if turns else [])]
    content = plain_json(parts)
    return blake2b(content.encode(), digest_size=DIGEST).digest()


@dataclass
class RowsPass:
    """One pass over the data: keys [row 16] and inputs [shard 16], each as bytes. rows: how many."""

    by_label: bool
    rows: int = 0
    keys: bytearray = field(default_factory=bytearray)
    inputs: bytearray = field(default_factory=bytearray)

    def over(self, chunks: Iterable[list[Example]], progress: Progress) -> Iterator[tuple[int, list[ExampleRecord]]]:
        """Each shard with the records of its rows."""
        for shard, examples in enumerate(chunks):
            records = [example_record(example) for example in examples]
            for example in examples:
                self.keys += key_of(example, self.by_label)
            self.inputs += input_digest(records)
            self.rows += len(examples)
            progress(READING, self.rows, self.rows)
            yield shard, records


def input_digest(records: list[ExampleRecord]) -> bytes:
    """16 bytes for the rows of a shard."""
    return blake2b(plain_json(records).encode(), digest_size=DIGEST).digest()


def make_plan(
    folder: RunFolder,
    question: Mapping[str, Any],
    data: CorpusData,
    chunks: Iterable[list[Example]],
    *,
    by_label: bool,
    threads: int,
    reuse: Callable[[], None],
    progress: Progress,
) -> Job:
    """Read the data once and write the plan of a folder that has none. reuse: notes which rows an earlier run has."""
    stamps = data.stamps  # before the rows are read: what changes meanwhile is noticed by the next command
    reading = RowsPass(by_label)
    files = [_write_rows(folder, shard, records) for shard, records in reading.over(chunks, progress)]
    distinct = _save_arrays(folder, reading, files)
    job = Job(dict(question), reading.rows, distinct, data.written, stamps, _rows_digest(folder), threads)
    reuse()
    folder.publish_plan(range(job.shards))
    folder.save_job(job)
    return job


def _save_arrays(folder: RunFolder, reading: RowsPass, files: list[bytes]) -> int:
    """Write what is known of all rows; returns how many different texts there are."""
    digests = {KEYS: reading.keys, INPUTS: reading.inputs, FILES: bytearray().join(files)}
    for name, content in digests.items():
        folder.save_array(name, np.frombuffer(content, dtype=np.uint8).reshape(-1, DIGEST))
    first = first_places(np.frombuffer(reading.keys, dtype=np.uint64).reshape(-1, 2))
    folder.save_array(FIRST, first)
    return int((first == np.arange(len(first))).sum())


def _rows_digest(folder: RunFolder) -> str:
    """Of the arrays that scores depend on."""
    digest = blake2b(digest_size=DIGEST)
    for name in (INPUTS, KEYS, FIRST):
        digest.update(np.ascontiguousarray(folder.array(name)).data)
    return digest.hexdigest()


def first_places(halves: np.ndarray) -> np.ndarray:
    """[row 2], the halves of keys -> [row] the number of the first row with the same key."""
    order = np.lexsort((halves[:, 1], halves[:, 0]))  # stable: equal keys stay in order
    begins = np.zeros(len(order), dtype=bool)
    begins[:1] = True
    for column in (0, 1):
        half = halves[order, column]  # one column after the other is in memory
        begins[1:] |= half[1:] != half[:-1]
        del half
    starts = np.flatnonzero(begins)
    first = np.empty(len(order), dtype=np.int64)
    first[order] = np.repeat(order[starts], np.diff(starts, append=len(order)))
    return first


def _write_rows(folder: RunFolder, shard: int, records: list[ExampleRecord]) -> bytes:
    """Write the rows of a shard; returns the digest of the file."""
    path, content = folder.rows_file(shard), BytesIO()
    table = arrow_table(records, ROWS_SCHEMA, f"Cannot write {path}")
    rows = pa.array(range(shard * SHARD, shard * SHARD + len(records)), pa.int64())
    numbered = table.add_column(0, NUMBERED.field("row"), rows).replace_schema_metadata(NUMBERED.metadata)
    write_checked([numbered], NUMBERED, content)
    with whole_file(path) as file:
        file.write(content.getbuffer())
    return bytes.fromhex(digest_of(content.getvalue()))


def check_rows(
    folder: RunFolder, job: Job, data: CorpusData, chunks: Iterable[list[Example]], by_label: bool, progress: Progress
) -> None:
    """Compare the data with the plan where they may have changed, and write again the rows that were damaged.

    Raises `BadFile` with the first shard whose rows are others.
    """
    if not _has_arrays(folder, job):
        _mend_arrays(folder, job, chunks, by_label, progress)
        return
    inputs, files = folder.array(INPUTS), np.array(folder.array(FILES))
    damaged = folder.damaged_rows(job)
    if data.stamps and data.stamps == job.stamps and not damaged:
        return
    reading = RowsPass(by_label)
    for shard, records in reading.over(chunks, progress):
        if shard >= job.shards or input_digest(records) != inputs[shard].tobytes():
            raise _changed(folder, job, shard)
        if shard in damaged:
            files[shard] = np.frombuffer(_write_rows(folder, shard, records), dtype=np.uint8)
    if damaged:
        folder.save_array(FILES, files)
        folder.publish_plan(damaged)
    if reading.rows != job.rows:
        raise _changed(folder, job, job.shards)


def _has_arrays(folder: RunFolder, job: Job) -> bool:
    try:
        return _rows_digest(folder) == job.rows_digest and len(folder.array(FILES)) == job.shards
    except BadFile:
        return False


def _mend_arrays(
    folder: RunFolder, job: Job, chunks: Iterable[list[Example]], by_label: bool, progress: Progress
) -> None:
    """Read the data again and write rows and arrays anew; raises `BadFile` where the data are others."""
    reading = RowsPass(by_label)
    files = [_write_rows(folder, shard, records) for shard, records in reading.over(chunks, progress)]
    _save_arrays(folder, reading, files)
    if _rows_digest(folder) != job.rows_digest:
        raise BadFile(f"The data are not those of {folder.title}, whose plan was damaged; {WAY_OUT}.")
    folder.publish_plan(range(job.shards))


def _changed(folder: RunFolder, job: Job, shard: int) -> BadFile:
    where = f"shard {shard}, from row {shard * SHARD:,} on" if shard < job.shards else "its number of rows"
    return BadFile(f"The data are not those of {folder.title}: {where}, differs; {WAY_OUT}.")


def read_rows(folder: RunFolder, shard: int) -> list[Example]:
    """The examples of a shard's rows; raises `BadFile` where the file is damaged."""
    return examples_in(rows_table(folder, shard))


def examples_in(rows: pa.Table) -> list[Example]:
    """The examples of rows, in order."""
    records: Any = rows.to_pylist()
    return [example_of(record) for record in records]


def rows_table(folder: RunFolder, shard: int) -> pa.Table:
    """The rows of a shard, a column a field of an example; raises `BadFile` where the file is damaged."""
    path = folder.rows_file(shard)
    folder.fetch_rows([shard])
    with disk_errors("read", path):
        content = path.read_bytes()
    if digest_of(content) != folder.array(FILES)[shard].tobytes().hex():  # damaged Parquet can end the process
        raise BadFile(f"{folder.named(path)} is damaged; {AGAIN}.")
    return bounded_table(path, ROWS_FORM, ROWS_SCHEMA)


# The door `verify`: whether a folder is as the command left it that made it.


def verify(folder: str | Path) -> Verification:
    """Check a folder that a command made, and folders of that kind inside it, against their manifests.

    It needs neither the model nor a network, and runs and draws nothing of the folder: sizes and SHA-256 digests are
    compared. A folder that was moved or mailed can be checked. Digests find accidents and careless changes. They do not
    find a forger, who rewrites the manifest too.

    folder: what `compare`, `attack`, `train` and their like left; or a run of `explain_corpus`, also by its address,
        whose receipts stand for a manifest: shards that are not computed yet are missing.

    Returns which files are `missing`, `changed` or `foreign`, and whether the folder `is_whole`. Foreign files, which
    no manifest lists, are no damage; what stands in a file's place and is none, or is a link that leads out of the
    folder, is changed. Raises `BadFile` where there is no folder, or none with a manifest.

    >>> parts = pellucid.plant("token", n=100, out="mailed")
    >>> pellucid.verify("mailed").is_whole
    True
    >>> _ = open("mailed/dev.jsonl", "a").write("{}")
    >>> pellucid.verify("mailed").changed
    ('dev.jsonl',)
    """
    run = run_folder(folder)
    if isinstance(run, StoredFolder):
        return _verified_store(run)
    return _verified_run(run) if (run.path / JOB).is_file() else verify_folder(folder)


def _verified_store(run: StoredFolder) -> Verification:
    """What is verified are new copies of all objects: older ones say nothing of what the store has now."""
    if run.job() is None:
        raise BadFile(f"{run.title} holds no run; give the address of one, or a folder.")
    with TemporaryDirectory() as folder:
        run.store.copy_all(Path(folder))
        return replace(_verified_run(RunFolder(Path(folder))), folder=run.title)


def _verified_run(run: RunFolder) -> Verification:
    """Every file of a run against its receipt, its plan, or the seal of the question."""
    job = run.job()
    assert job is not None
    expected, wrong = {JOB}, set[str]()
    for name, is_right in _states(run, job):
        expected.add(name)
        wrong |= set() if is_right else {name}
    here = names_below(run.path)
    passing = (f"{LEASES}/", f"{ROWS}/{REUSED}")
    foreign = [readable(name) for name in here if name not in expected and not name.startswith(passing)]
    changed = wrong & set(here)
    known = (tuple(sorted(wrong - changed)), tuple(sorted(changed)), tuple(foreign))
    return Verification(readable(run.path), len(expected), *known)


def _states(run: RunFolder, job: Job) -> Iterator[tuple[str, bool]]:
    """The name of each file that a whole run has, and whether it is as it was written."""
    has_arrays = _has_arrays(run, job)
    yield from ((f"{ROWS}/{name}", has_arrays) for name in (FIRST, KEYS, INPUTS, FILES))
    for shard in range(job.shards):
        receipt = run.receipt(job, shard)
        yield f"{ROWS}/{run.rows_file(shard).name}", not has_arrays or run.has_whole_rows(shard)
        yield f"{SHARDS}/{run.shard_file(shard).name}", run.is_whole(job, shard)
        yield f"{SHARDS}/{run.receipt_file(shard).name}", receipt is not None
        lines = None if receipt is None else receipt.failure_lines().encode()
        path = run.failures_file(shard)
        if lines or (lines is None and path.is_file()):  # without its receipt nobody knows what it should be
            yield f"{FAILURES}/{path.name}", lines is None or (path.is_file() and path.read_bytes() == lines)
