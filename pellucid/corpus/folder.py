"""The folder of a run: its question, the rows of its shards, what was computed, and who works on what.

    job.json              what is asked of which rows; written when the plan is whole
    rows/00000.parquet    the texts of a shard of 1,024 rows, as the data have them, with ids, labels and meta
    rows/first.npy        [row] the first row of equal text: that row is computed, and the others have its scores
    rows/keys.npy         [row 16] digests of the texts
    rows/inputs.npy       [shard 16] digests of the shards' rows; rows/files.npy, of their files
    shards/00000.parquet  the explanations of a shard's rows, in the form of `save`, each with its row and key
    shards/00000.json     the receipt: digest of that file, and rows that failed; a shard is whole when it fits
    failures/00000.jsonl  rows that failed, a line each, for people
    leases/00000.json     who computes a shard now; touched while the process lives

Every file is written under a temporary name and renamed. A shard's bytes follow from question and rows alone, so two
processes that compute the same one write the same file: a lease saves time, and no data depend on it.

Of a run in an object store the folder has copies of what was needed here (`store.py`).
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import blake2b
from pathlib import Path
from shlex import quote
from typing import Any

import numpy as np

from pellucid.base.checks import changes, in_syntax
from pellucid.base.errors import BadFile, Failure
from pellucid.base.files import check_folder, disk_errors, remove_unfinished, whole_file, write_text
from pellucid.base.json_text import is_sealed, json_digest, read_json, sealed, unsealed
from pellucid.base.leases import Leases, living

JOB, ROWS, SHARDS, FAILURES, LEASES = "job.json", "rows", "shards", "failures", "leases"
FIRST, KEYS, INPUTS, FILES, REUSED = "first.npy", "keys.npy", "inputs.npy", "files.npy", "reused.npy"
FORM = "pellucid-run-1"
SHARD = 1024  # rows
DIGEST = 16  # bytes
AGAIN = "run the same command again, and it is made anew"


@dataclass(frozen=True)
class Job:
    """What is asked of how many rows. question: everything that a score depends on besides the rows, as plain values.

    distinct: rows that are computed, the first of each text. data: how the user wrote the data. stamps: name, size and
    time of the data's files. rows_digest: of the inputs of all shards and of the equal texts. threads: of each process
    that computes.
    """

    question: Mapping[str, Any]
    rows: int
    distinct: int
    data: str
    stamps: list[list[Any]]
    rows_digest: str
    threads: int

    @cached_property
    def digest(self) -> str:
        """Of question and rows: it stands in each shard."""
        return json_digest([self.question, self.rows_digest, self.threads])

    @property
    def methods(self) -> Mapping[str, Mapping[str, Any]]:
        """Each method's title with its settings, in the order in which they were named."""
        return self.question["methods"]  # type: ignore[no-any-return]

    def digest_of_question(self, method: str) -> str:
        """Of what a row's scores by a method depend on besides its text: it makes the keys of rows."""
        question = {name: value for name, value in self.question.items() if name not in ("data", "reuse", "methods")}
        return json_digest({**question, "method": method, "settings": self.methods[method]})

    @property
    def shards(self) -> int:
        """How many shards the rows are cut into."""
        return -(-self.rows // SHARD)

    def rows_of(self, shard: int) -> range:
        """The numbers of a shard's rows."""
        return range(shard * SHARD, min((shard + 1) * SHARD, self.rows))


@dataclass(frozen=True)
class Receipt:
    """What is known of a shard that was computed. size, digest: of its file. rows: that have explanations in it.
    reused: how many of them were copied from an earlier run.
    """

    size: int
    digest: str
    rows: int
    reused: int = 0
    failures: list[Failure] = field(default_factory=list)

    def failure_lines(self) -> str:
        """The rows that failed, a line of JSON each."""
        return "".join(json.dumps(asdict(failure), ensure_ascii=False) + "\n" for failure in self.failures)


@dataclass(frozen=True)
class RunFolder:
    """The files of one run."""

    path: Path

    @property
    def place(self) -> str | Path:
        """What names the run: the path, or an address."""
        return self.path

    @property
    def title(self) -> str:
        """Where the run is, for people."""
        return str(self.path)

    def name_of(self, path: Path) -> str:
        """A file's name below the folder."""
        return path.relative_to(self.path).as_posix()

    def named(self, path: Path) -> str:
        """Where a file of the run is, for people."""
        return f"{self.title}/{self.name_of(path)}"

    def job(self) -> Job | None:
        """What is asked; None where the plan is not made yet. Raises `BadFile` for a damaged file."""
        path = self.path / JOB
        if not path.exists():
            return None
        record = read_json(path)
        if not isinstance(record, dict) or record.get("form") != FORM:
            raise BadFile(f"{self.named(path)} does not describe a run; give another folder.")
        bare = unsealed(record, {"form": FORM}, path)
        del bare["form"]
        try:
            job = Job(**bare)
            sizes = range(job.rows), range(job.distinct), range(job.threads)  # raises where one is no whole number
            if all(sizes) and job.methods and all(isinstance(each, Mapping) for each in job.methods.values()):
                return job
            raise TypeError("a count is none")
        except (TypeError, LookupError, AttributeError):
            raise BadFile(
                f"{self.named(path)} is of another version of Pellucid; make it again with {_call_for(bare)}."
            ) from None

    def save_job(self, job: Job) -> None:
        """Write the question: after this the plan is whole."""
        record = {"form": FORM, **{name: value for name, value in asdict(job).items() if name != "digest"}}
        write_text(self.path / JOB, json.dumps(sealed(record, {"form": FORM}), ensure_ascii=False, indent=1))

    def prepare(self) -> None:
        """Make the folder ready for writing; raises `BadFile` where it holds anything else than a run."""
        inside = {JOB, ROWS, SHARDS, FAILURES, LEASES}
        others = [name for name in self._inside() if name not in inside and not name.endswith(".part")]
        if others:
            raise BadFile(
                f"{self.title} holds no run but other files ({', '.join(others[:3])}); give an empty folder, or a new "
                f"one."
            )
        check_folder(self.path)
        for name in (ROWS, SHARDS, FAILURES, LEASES):
            with disk_errors("write", self.path):
                (self.path / name).mkdir(parents=True, exist_ok=True)
            remove_unfinished(self.path / name)
        remove_unfinished(self.path)

    def rows_file(self, shard: int) -> Path:
        """The texts of a shard."""
        return self.path / ROWS / f"{shard:05d}.parquet"

    def shard_file(self, shard: int) -> Path:
        """The explanations of a shard."""
        return self.path / SHARDS / f"{shard:05d}.parquet"

    def receipt_file(self, shard: int) -> Path:
        """The receipt of a shard."""
        return self.path / SHARDS / f"{shard:05d}.json"

    def failures_file(self, shard: int) -> Path:
        """The failures of a shard, for people."""
        return self.path / FAILURES / f"{shard:05d}.jsonl"

    def lease_file(self, shard: int) -> Path:
        """Who computes a shard."""
        return self.path / LEASES / f"{shard:05d}.json"

    def array(self, name: str) -> np.ndarray:
        """An array of the plan, mapped from the disk; raises `BadFile` where it is damaged."""
        path = self.path / ROWS / name
        try:
            with disk_errors("read", path):
                return np.load(path, mmap_mode="r", allow_pickle=False)
        except (ValueError, EOFError):  # the second, of an empty file
            raise BadFile(f"{self.named(path)} is damaged; {AGAIN}.") from None

    def save_array(self, name: str, values: np.ndarray) -> None:
        """Write an array of the plan, whole or not at all."""
        with whole_file(self.path / ROWS / name) as file:
            np.save(file, values, allow_pickle=False)

    def write_shard(self, job: Job, shard: int, content: bytes, receipt: Receipt) -> None:
        """Write the file of a shard, its failures and, last, its receipt."""
        with whole_file(self.shard_file(shard)) as file:
            file.write(content)
        if receipt.failures:
            write_text(self.failures_file(shard), receipt.failure_lines())
        else:
            self.failures_file(shard).unlink(missing_ok=True)
        record = sealed(asdict(receipt), {"run": job.digest, "shard": shard})
        write_text(self.receipt_file(shard), json.dumps(record, ensure_ascii=False))

    def receipt(self, job: Job, shard: int) -> Receipt | None:
        """The receipt of a shard; None where there is none, or one of another run, or a damaged one."""
        path = self.receipt_file(shard)
        try:
            record = read_json(path)
            if not is_sealed(record):
                return None
            record = unsealed(record, {"run": job.digest, "shard": shard}, path)
            failures = [Failure(**failure) for failure in record.pop("failures")]
            return Receipt(**record, failures=failures)
        except (BadFile, TypeError, KeyError, AttributeError):
            return None

    def is_whole(self, job: Job, shard: int) -> bool:
        """Whether the file of a shard is the one that its receipt names, to the last bit."""
        receipt = self.receipt(job, shard)
        try:
            content = b"" if receipt is None else self.shard_file(shard).read_bytes()
        except OSError:
            return False
        return receipt is not None and digest_of(content) == receipt.digest

    def has_shard(self, shard: int) -> bool:
        """Whether a shard has a receipt and a file by now; what they hold is not read."""
        return self.receipt_file(shard).exists() and self.shard_file(shard).exists()

    def finished(self) -> set[int]:
        """The shards that have a receipt and a file; what they hold is not read."""
        names = self._names(SHARDS)
        return numbers_in(names, ".json") & numbers_in(names, ".parquet")

    def leases(self, slices: int = 1) -> Leases:
        """Takes shards for this process, which is of so many slices."""
        return Leases(slices)

    def living(self) -> list[dict[str, Any]]:
        """What the leases of shards say that are kept alive, each with its shard."""
        return living(self.path / LEASES)

    def clear_remains(self) -> None:
        """Remove the leases and unfinished files of a whole run, which killed processes left; a lease of a living one
        is of a whole shard.
        """
        for name in (ROWS, SHARDS, FAILURES):
            remove_unfinished(self.path / name)
        for name in self._names(LEASES):
            if name.partition(".")[0].isdecimal():
                self.remove(self.path / LEASES / name)

    def remove(self, path: Path) -> None:
        """Remove a file of the run."""
        path.unlink(missing_ok=True)

    def receipts(self) -> set[int]:
        """The shards that have a receipt, whatever it says."""
        return numbers_in(self._names(SHARDS), ".json")

    def failures(self, job: Job) -> Iterator[Failure]:
        """The rows that failed, in order; a row of equal text is not counted again."""
        for name in sorted(self._names(FAILURES)):
            shard = name.partition(".")[0]
            receipt = self.receipt(job, int(shard)) if shard.isdecimal() else None
            yield from () if receipt is None else receipt.failures

    def has_whole_rows(self, shard: int) -> bool:
        """Whether the rows of a shard are those of the plan, to the last bit."""
        path = self.rows_file(shard)
        return path.is_file() and digest_of(path.read_bytes()) == self.array(FILES)[shard].tobytes().hex()

    def damaged_rows(self, job: Job) -> set[int]:
        """The shards whose rows are not there, or, where they are still to be computed, not intact."""
        return {
            shard
            for shard in range(job.shards)
            if not (self.rows_file(shard).exists() if self.has_shard(shard) else self.has_whole_rows(shard))
        }

    def _inside(self) -> list[str]:
        """What stands in the folder."""
        with disk_errors("read", self.path):
            return [] if not self.path.exists() else sorted(path.name for path in self.path.iterdir())

    def _names(self, part: str) -> Collection[str]:
        """The files of a part."""
        try:
            return [path.name for path in (self.path / part).iterdir()]
        except OSError:
            return []

    # Of a run in an object store: what is copied to it after it was written, and from it before it is read.

    def publish_plan(self, shards: Iterable[int]) -> None:
        """Copy the rows of shards, and the arrays."""

    def publish_shard(self, shard: int, receipt: Receipt) -> None:
        """Copy what was computed."""

    def fetch_rows(self, shards: Iterable[int]) -> None:
        """Copy the rows of shards that are not here."""

    def fetch_shards(self, job: Job, shards: Iterable[int], anew: bool = False) -> None:
        """Copy shards that are not here with their receipts. anew: also those that are."""


def numbers_in(names: Iterable[str], ending: str) -> set[int]:
    """The numbers that names with an ending consist of besides."""
    bare = (name.removesuffix(ending) for name in names if name.endswith(ending))
    return {int(name) for name in bare if name.isdecimal()}


def _call_for(record: Mapping[str, Any]) -> str:
    """The call that makes a run again, with what its record still says of model, data and methods."""
    question = record.get("question")
    question = question if isinstance(question, Mapping) else {}
    model, data = str(question.get("model", "MODEL")), str(record.get("data", "DATA"))
    titles = question.get("methods") or [question.get("method", "METHOD")]
    methods = [str(title).partition("(")[0] for title in titles] if isinstance(titles, Mapping | list) else ["METHOD"]
    return in_syntax(
        f"pellucid.explain_corpus({model!r}, {data!r}, {methods!r}, folder=…)",
        f"pellucid explain {quote(model)} --data {quote(data)} --methods {','.join(methods)} --out FOLDER",
    )


def digest_of(content: bytes) -> str:
    """32 hexadecimal digits for bytes."""
    return blake2b(content, digest_size=DIGEST).hexdigest()


def check_question(place: str, there: Mapping[str, Any], here: Mapping[str, Any]) -> None:
    """Raise `BadFile` where a folder asks another question, with what differs."""
    plain = json.loads(json.dumps(here))
    if there != plain:
        raise BadFile(
            f"{place} holds another run ({difference(there, plain)}); give another folder, or remove this one."
        )


def difference(before: Mapping[str, Any], now: Mapping[str, Any]) -> str:
    """What two questions ask differently; of other methods only their names. "" where they are equal."""
    sides = [dict(before), dict(now)]
    titles = [", ".join(side["methods"]) for side in sides]
    if titles[0] != titles[1]:
        sides = [{**side, "methods": names} for side, names in zip(sides, titles, strict=True)]
    return changes(*sides)
