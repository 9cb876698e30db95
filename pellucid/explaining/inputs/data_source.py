"""Where examples are read from, and how: one record for the options that every door to data takes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pellucid.base.checks import mapping, one_of
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import possible_path
from pellucid.base.notices import notify
from pellucid.base.wording import quoted
from pellucid.data.load import classes_of, is_one_file, load_examples, load_part, load_parts
from pellucid.data.shared.rows import SkippedRows, say_odd_classes
from pellucid.run.target import Problem
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap, renamed


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
            raise BadSetting(
                f"format={quoted(self.format)} is not possible; give a name of pellucid.formats()."
            )
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
        return self._mapped(
            load_examples(self.data, self.split, self.format, self.skip_bad_rows, **self.settings)
        )

    def training_part(self) -> list[Example]:
        """The examples of the split as training sees it: a single file is cut into 70, 15 and 15 %."""
        return self._mapped(
            load_part(self.data, self.split, self.format, self.skip_bad_rows, **self.settings)
        )

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
        """The classes: those that a data set declares, else the labels of the train texts; raises `BadInput` for fewer than two."""
        one_of("problem", problem, ("single_label", "multi_label"))
        classes = classes_of(self.data, train, problem, self.format)
        if not train:
            raise BadInput(f"{self.data} has no texts to learn from.")
        if len(classes) < 2:
            raise BadInput(
                f"A classifier needs two classes or more; the labels of {self.data} are: {', '.join(classes) or 'none'}."
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
