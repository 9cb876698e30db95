"""Data sets of the Hugging Face hub, or saved by the package `datasets` on disk.

Lhoest et al. (2021), "Datasets: A Community Library for Natural Language Processing".
"""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, TypeAlias

import yaml
from huggingface_hub import DatasetCard
from pyarrow.parquet import read_metadata

from pellucid.base.checks import quoted
from pellucid.base.errors import BadFile, BadSetting, PellucidError
from pellucid.base.files import disk_errors
from pellucid.base.json_text import parsed
from pellucid.base.kinds import formats
from pellucid.base.memory import check_memory
from pellucid.base.packages import optional_package
from pellucid.data.shared.columns import SAMPLE, Columns, columns_of, say_how_read
from pellucid.data.shared.delimited import check_named_once
from pellucid.data.shared.rows import ReadRow, read_rows
from pellucid.results.storage import check_values
from pellucid.text.example import Example, Rationale

Row: TypeAlias = dict[str, Any]  # the columns of a data set by anybody; `Example` refuses texts that are none
NAMES = {"dev": ("dev", "validation", "valid", "val")}
OURS = {"segments", "label", "rationales", "id", "meta"}  # the columns that `to_dataset` writes


@formats.add(
    reads="a hub name, a folder that datasets can read, or a .parquet file",
    data="any",
    rationales=True,
    package="datasets",
)
def hugging_face(
    path: Path,
    split: str,
    *,
    subset: str | None = None,
    text: str | None = None,
    second: str | None = None,
    label: str | None = None,
    evidence: str | None = None,
) -> Iterator[ReadRow]:
    """A data set that the package datasets loads; class numbers become their names, and no code of the data set runs.

    A folder is read from this machine alone. Columns of pictures, sounds and the like are left out. subset: the
    configuration's name, where there are several. text, second, label, evidence: the columns, where they have unusual
    names; evidence is that of the marks in the (first) text. Raises `MissingPackage` without the package, `BadFile`
    where it cannot load.
    """
    rows = _part(path, split, subset)
    columns = rows.column_names
    if set(columns) >= OURS:
        yield from read_rows(path, enumerate(rows, start=1), _own_example)
        return
    try:
        read_columns = columns_of(columns, list(islice(rows, SAMPLE)), text, second, label, evidence)
    except BadSetting:
        raise
    except ValueError as error:
        raise BadFile(f"{path}: {error}; its columns are: {', '.join(columns)}.") from None
    labelled = read_columns.label
    say_how_read(path.name, "", read_columns)
    classes = getattr(rows.features[labelled], "names", None) if labelled else None
    make = partial(_example, split=split, columns=read_columns, classes=classes)
    yield from read_rows(path, enumerate(rows, start=1), make)


class Rows(Protocol):
    """What is read of a part that the package datasets loaded."""

    column_names: list[str]
    features: Mapping[str, object]

    def __iter__(self) -> Iterator[Row]: ...
    def select_columns(self, names: list[str]) -> "Rows":
        """The same rows with these columns only."""


def _part(path: Path, split: str, subset: str | None) -> Rows:
    """The rows of the part; a data set without parts is one part."""
    package = optional_package("datasets")
    try:
        loaded = _load(package, path, subset)
    except PellucidError:
        raise
    except Exception as error:  # the package raises many kinds; each means that there is nothing to read
        check_memory(error, f"read {path.as_posix()}")
        raise BadFile(f"The package datasets cannot load {path.as_posix()}: {_first_line(error)}") from None
    if not isinstance(loaded, dict):
        return _texts_and_numbers(package, loaded)
    for name in NAMES.get(split, (split,)):
        if name in loaded:
            return _texts_and_numbers(package, loaded[name])
    raise BadFile(f"{path.as_posix()} has no part {split}; its parts are: {', '.join(loaded)}.")


def _load(package: ModuleType, path: Path, subset: str | None) -> Rows | dict[str, Rows]:
    if (path / "dataset_dict.json").is_file() or (path / "state.json").is_file():
        return package.load_from_disk(str(path))
    if path.suffix == ".parquet":
        if path.is_file():
            metadata = read_metadata(path)
            check_values(path, metadata)
            check_named_once(path, metadata.schema.to_arrow_schema().names)
        return package.Dataset.from_parquet(str(path))
    if path.is_dir():
        check_local(path)
    elif path.exists() or _looks_local(path.as_posix()):
        raise BadFile(f"{path.as_posix()} is no folder and no .parquet file; give one, or a hub name.")
    return package.load_dataset(path.as_posix(), subset)


def _looks_local(source: str) -> bool:
    return source.startswith((".", "/", "~")) or source.count("/") > 1


def _texts_and_numbers(package: ModuleType, rows: Rows) -> Rows:
    """The rows without pictures, sounds and the like: to decode one, the package may fetch it from another address."""
    plain = [name for name, kind in rows.features.items() if _is_plain(package, kind)]
    return rows.select_columns(plain) if plain != rows.column_names else rows


def _is_plain(package: ModuleType, kind: object) -> bool:
    if isinstance(
        kind, package.Value | package.ClassLabel | package.Translation | package.TranslationVariableLanguages
    ):
        return True
    if isinstance(kind, dict):
        return all(_is_plain(package, inner) for inner in kind.values())
    if isinstance(kind, list):
        return all(_is_plain(package, inner) for inner in kind)
    return hasattr(kind, "feature") and _is_plain(package, kind.feature)


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)


def _example(
    row: Row,
    row_number: int,
    *,
    split: str,
    columns: Columns,
    classes: list[str] | None,
) -> list[Example]:
    used = {*columns.texts, columns.label, "id", *(column.name for column in columns.marks)}
    segments = tuple(row[name] for name in columns.texts)
    meta = {name: value for name, value in row.items() if name not in used}
    id = row["id"] if row.get("id") is not None else f"{split}-{row_number}"
    label = _label(row, columns.label, classes)
    return [Example(segments, label, columns.rationales(row, segments), str(id), meta)]


def _label(row: Row, label: str | None, classes: list[str] | None) -> str | None:
    value = row[label] if label else None
    if value is None or (classes and value == -1):  # -1 is how hub data sets say that a label is kept secret
        return None
    return classes[value] if classes else str(value)


def _own_example(row: Row, _: int) -> list[Example]:
    marks = tuple(Rationale(**mark) for mark in row["rationales"])
    return [Example(tuple(row["segments"]), row["label"], marks, row["id"], parsed(row["meta"]))]


# Refuses a folder of data whose card names files elsewhere: the package `datasets` would fetch them.

CARDS = ("README.md", ".huggingface.yaml")  # where the package looks for the names of files
LARGEST = 4 << 20  # bytes of one
LOCAL_NAMES = ("data_files", "data_dir", "path")


def check_local(folder: Path) -> None:
    """Raise `BadFile` where a card of the folder names files on the hub, at another address or above the folder."""
    for name in CARDS:
        if (folder / name).is_file():
            for file in _elsewhere(_configurations(folder / name)):
                raise BadFile(
                    f"{folder / name} names {quoted(file)}, which lies elsewhere; only files of the folder are read. "
                    "Take that entry out, or give the data set's hub name."
                )


def _configurations(path: Path) -> Any:
    with disk_errors("read", path), path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadFile(f"{path} has more than {LARGEST >> 20} MB, which no card needs; give another folder.")
    try:
        text = content.decode("utf-8")
        card = DatasetCard(text).data.to_dict() if path.suffix == ".md" else yaml.safe_load(text)
    except (ValueError, TypeError, RecursionError, yaml.YAMLError):
        raise BadFile(f"{path} does not begin with readable YAML; repair it, or take it away.") from None
    return card.get("configs") if isinstance(card, dict) else None


def _elsewhere(configurations: Any) -> Iterator[str]:
    """Every string within the configurations that names a file elsewhere."""
    waiting, seen = [(configurations, False)], set()
    while waiting:
        value, names = waiting.pop()
        if isinstance(value, dict | list):
            if (id(value), names) in seen:  # YAML can hold a part many times
                continue
            seen.add((id(value), names))
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [(inner, names or name in LOCAL_NAMES) for name, inner in inside]
        elif isinstance(value, str) and ("://" in value or (names and _leads_out(value))):
            yield value


def _leads_out(file: str) -> bool:
    return "::" in file or file.startswith(("/", "~", "\\")) or ".." in Path(file).parts
