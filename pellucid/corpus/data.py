"""The data of a run, read row by row: files, a pattern of names, data sets, or what is in memory."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from glob import glob, has_magic
from itertools import count, islice
from pathlib import Path
from typing import Any

from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadFile, BadInput
from pellucid.base.files import disk_errors
from pellucid.base.kinds import datasets
from pellucid.corpus.folder import SHARD
from pellucid.data.load import is_plain_text
from pellucid.explaining.inputs.data_source import DataSource, columns_as_settings
from pellucid.explaining.inputs.examples import (
    StrangeLabels,
    examples_for,
    fitting,
    notice_segments,
    strange_for,
)
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap
from pellucid.text.passages import FixedPart, FixedParts

IN_MEMORY = "texts in memory"


@dataclass(frozen=True)
class CorpusReading:
    """How the data are read.

    text, label: columns. split: the part of data that have parts. format, settings: how files are read. skip_bad_rows:
    whether rows that cannot be read are left out. label_map: label -> class. limit: the first so many rows alone.
    keep: what no method takes out.
    """

    text: str | Sequence[str] | None = None
    label: str | None = None
    split: str = "test"
    format: str | None = None
    settings: Mapping[str, Any] | None = None
    skip_bad_rows: bool = False
    label_map: LabelMap | None = None
    limit: int | None = None
    keep: FixedPart | Sequence[FixedPart] | None = None

    def record(self) -> dict[str, Any]:
        """What changes rows, as plain values."""
        values: dict[str, Any] = {
            "columns": [self.text, self.label],
            "format": self.format,
            "read": dict(self.settings or {}),
        }
        values |= {"labels": dict(self.label_map or {}), "limit": self.limit, "split": self.split}
        return {name: value for name, value in values.items() if value not in (None, {}, [None, None])}


@dataclass(frozen=True)
class CorpusData:
    """written: the data as the user named them. files: those that are read; none of other data. stream: begins to read
    anew at each call.
    """

    written: str
    files: tuple[Path, ...]
    stream: Callable[[], Iterator[Example]]

    @property
    def stamps(self) -> list[list[Any]]:
        """Name, size and time of each file; where they are as before, the rows are."""
        states = [(path, path.stat()) for path in self.files if path.is_file()]
        return [[str(path), state.st_size, state.st_mtime_ns] for path, state in states]


def corpus_data(model: Model, data: Any, reading: CorpusReading, target: Any) -> CorpusData:
    """The data; a string or path names files, a folder or a data set, with * in names of files.

    Raises `BadInput` where a pattern fits no file, and for options that plain text has no use for.
    """
    if not isinstance(data, str | Path):
        examples = examples_for(
            model,
            data,
            text=reading.text,
            label=reading.label,
            label_map=reading.label_map,
            skip_bad_rows=reading.skip_bad_rows,
            strange=strange_for(target),
        )
        return CorpusData(IN_MEMORY, (), lambda: iter(examples))
    names = _names(str(data))
    texts = [name for name in names if _is_text_file(name, reading)]
    if texts and (reading.text or reading.label or reading.settings):
        raise BadInput(
            f"{listed(texts)} is read as plain text, one text a line, so columns and settings mean nothing; name the "
            f"format, or leave them away."
        )
    numbers, columns = count(), getattr(model, "columns", None)

    def stream() -> Iterator[Example]:
        for name in names:
            yield from _lines(Path(name), numbers) if name in texts else _source(name, reading).streamed()

    def rows() -> Iterator[Example]:
        nonlocal numbers
        numbers = count()
        return stream() if columns is None else map(columns.beside, stream())

    return CorpusData(str(data), tuple(map(Path, names)), rows)


def _names(data: str) -> list[str]:
    """The files of a pattern, sorted; the name itself where it is no pattern, or a file is called so."""
    if not has_magic(data) or Path(data).exists():
        return [data]
    names = sorted(glob(data, recursive=True))  # noqa: PTH207 - absolute patterns, too
    if not names:
        raise BadInput(f"{quoted(data)} fits no file; give another pattern, in quotes, or the name of a file.")
    return names


def _is_text_file(name: str, reading: CorpusReading) -> bool:
    plain = reading.format is None and name not in datasets.names() and not Path(name).is_dir()
    return plain and is_plain_text(name) and Path(name).is_file()


def _source(name: str, reading: CorpusReading) -> DataSource:
    settings = dict(reading.settings or {}) | columns_as_settings(reading.text, reading.label)
    return DataSource(name, reading.split, reading.format, settings, reading.skip_bad_rows)


def _lines(path: Path, numbers: Iterator[int]) -> Iterator[Example]:
    """An example a line that is not blank."""
    with disk_errors("read", path), path.open(encoding="utf-8-sig") as file:
        try:
            for line in file:
                if line.strip():
                    yield Example((line.removesuffix("\n"),), id=str(next(numbers)))
        except UnicodeDecodeError as error:
            raise BadFile(f"{path} is not UTF-8 text (byte {error.start}); convert it first.") from None


def chunks(model: Model, data: CorpusData, reading: CorpusReading, target: Any) -> Iterator[list[Example]]:
    """The rows of a shard at a time, with labels under the model's classes; notices are of the first rows alone."""
    rows: Iterable[Example] = data.stream()
    rows = iter(rows if reading.limit is None else islice(rows, reading.limit))
    strange: StrangeLabels = strange_for(target)
    first, parts = True, FixedParts(reading.keep)
    while some := list(islice(rows, SHARD)):
        if data.written != IN_MEMORY:
            if first:
                notice_segments(model, some)
            some = list(fitting(model, some, reading.label_map, strange if first or strange == "error" else "allowed"))
        first = False
        yield list(parts.noted_in(some))
    if first:
        raise BadInput(f"There is no text in {data.written}; give one example a row.")
    parts.check()
