"""Examples from a path or a name: a data set, a file or a folder, with the options that every door to data takes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pellucid.base.checks import mapping, one_of, quoted
from pellucid.base.errors import BadInput, BadSetting, notify
from pellucid.base.files import possible_path
from pellucid.base.kinds import datasets
from pellucid.data.load import classes_of, is_one_file, load_examples, load_part, load_parts, streamed_examples
from pellucid.data.shared.rows import SkippedRows, say_odd_classes
from pellucid.explaining.inputs.readings import ReadingRequest, notify_reading
from pellucid.run.target import Problem
from pellucid.text.example import Example, prompted
from pellucid.text.label_map import LabelMap, renamed

ENDINGS = (".csv", ".tsv", ".jsonl", ".json", ".txt", ".parquet", ".gz", ".xlsx", ".arrow")
LONGEST_PATH = 1024  # characters


def examples_from_string(text: str, reading: ReadingRequest) -> tuple[Example, ...]:
    """One text; where the door expects data, the data of that name. What could be both is refused with both ways."""
    text = str(text)
    if reading.names_data and (_names_something(text) or not _has_blanks(text)):
        examples = examples_from_path(text, reading)
        notify_reading(
            f"Read {quoted(text)} as the data of that name ({len(examples):,} texts); write [{quoted(text)}] for the "
            f"text itself."
        )
        return examples
    if _names_something(text):
        kind, way = _what_it_names(text)
        raise BadInput(f"{quoted(text)} is {kind}. Write {way} for its texts, or [{quoted(text)}] for the text itself.")
    if looks_like_a_file(text):
        raise BadInput(
            f"{quoted(text)} looks like a file, but there is none of that name. Give the right path as pathlib.Path, "
            f"or [{quoted(text)}] for the text itself."
        )
    reading.without_columns(text)
    return (prompted((text,), id="0"),)


def examples_from_path(path: str | Path, reading: ReadingRequest) -> tuple[Example, ...]:
    """The examples of a file, a folder's part or a data set; columns are those that the reading names."""
    possible_path(path)
    columns = columns_as_settings(reading.text, reading.label)
    return tuple(load_examples(path, reading.split, skip_bad_rows=reading.skip_bad_rows, **columns))


def columns_as_settings(text: str | Sequence[str] | None, label: str | None) -> dict[str, Any]:
    """The columns that a caller named, as a format's settings; raises `BadSetting` for what is no column."""
    names: dict[str, Any] = dict(zip(("text", "second"), ReadingRequest(text, label).text_names, strict=False))
    return names if label is None else names | {"label": str(label)}


def looks_like_a_file(text: str) -> bool:
    """Whether a text is one word that ends as names of data files do."""
    return not _has_blanks(text) and text.lower().endswith(ENDINGS)


def _has_blanks(text: str) -> bool:
    return any(character.isspace() for character in text.strip())


def _names_something(text: str) -> bool:
    return text in datasets.names() or _is_path(text)


def _is_path(text: str) -> bool:
    """Whether a file, or a folder that is written as a path, has this name."""
    if not 0 < len(text) <= LONGEST_PATH or "\n" in text or "\0" in text:
        return False
    try:
        path = Path(text).expanduser()
        return path.is_file() or ("/" in text and path.is_dir())
    except (OSError, RuntimeError, ValueError):  # a name that no file can have, or of nobody
        return False


def _what_it_names(text: str) -> tuple[str, str]:
    """What a string names besides itself, and how to write that."""
    if text in datasets.names():
        return "the name of a data set, and could be a text", f"pellucid.examples({quoted(text)})"
    kind = "a file" if Path(text).expanduser().is_file() else "a folder"
    return f"{kind}, and came where a text stands", f"pathlib.Path({quoted(text)})"


# Where examples are read from, and how: one record for the options that every door to data takes.


@dataclass(frozen=True)
class DataSource:
    """A data set, file or folder with the options that say how it is read.

    data: a data set's name, a file or a folder.
    split: the part to read: "train", "dev", "test" or "all".
    format: a name of `formats`; None: known from the name of the file.
    settings: of the format.
    skip_bad_rows: whether rows that cannot be read are left out, with a warning, instead of being an error.
    label_map: label of the data -> the label that is meant; None: labels are as the data have them.
    """

    data: str | Path
    split: str = "test"
    format: str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    skip_bad_rows: bool = False
    label_map: LabelMap | None = None

    def __post_init__(self) -> None:
        possible_path(self.data)
        if self.format is not None and not isinstance(self.format, str):
            raise BadSetting(f"format={quoted(self.format)} is not possible; give a name of pellucid.formats().")
        mapping("read", self.settings)

    @property
    def is_one_file(self) -> bool:
        """Whether it is one file, which has no parts of its own."""
        return is_one_file(self.data, self.format)

    def with_split(self, split: str) -> "DataSource":
        """Another part of the same data."""
        return replace(self, split=split)

    def examples(self) -> list[Example]:
        """The examples of the split; a single file is all splits at once."""
        return self._mapped(load_examples(self.data, self.split, self.format, self.skip_bad_rows, **self.settings))

    def streamed(self) -> Iterator[Example]:
        """The same examples row by row, for data that memory may not hold; labels are as the data have them."""
        return streamed_examples(self.data, self.split, self.format, self.skip_bad_rows, **self.settings)

    def training_part(self) -> list[Example]:
        """The examples of the split as training sees it: a single file is cut into 70, 15 and 15 %."""
        return self._mapped(load_part(self.data, self.split, self.format, self.skip_bad_rows, **self.settings))

    def training_parts(self) -> dict[str, list[Example]]:
        """The parts that training sees: "train" and "dev". Warns of texts that occur several times."""
        parts = load_parts(self.data, self.format, self.skip_bad_rows, **self.settings)
        return {split: self._mapped(examples) for split, examples in parts.items()}

    def _mapped(self, examples: list[Example]) -> list[Example]:
        """The examples under the labels that are meant; raises `BadInput` for a label that the map says nothing of."""
        if self.label_map is None:
            return examples
        return list(renamed(examples, self.label_map))

    def classes(self, train: list[Example], problem: Problem) -> tuple[str, ...]:
        """The classes: those that a data set declares, else the labels of the train texts; raises `BadInput` for fewer
        than two.
        """
        one_of("problem", problem, ("single_label", "multi_label"))
        classes = classes_of(self.data, train, problem, self.format)
        if not train:
            raise BadInput(f"{self.data} has no texts to learn from.")
        if len(classes) < 2:
            raise BadInput(
                f"A classifier needs two classes or more; the labels of {self.data} are: "
                f"{', '.join(classes) or 'none'}."
            )
        say_odd_classes(classes)
        return classes


def with_labels(part: str, examples: Sequence[Example]) -> list[Example]:
    """The examples that have a label; a warning counts the others."""
    labelled = [example for example in examples if example.label is not None]
    if len(labelled) < len(examples):
        count = f"{len(examples) - len(labelled):,} of {len(examples):,}"
        notify(f"{count} {part} examples have no label and were left out.", SkippedRows)
    return labelled
