"""Texts in memory to train on: cut as one file is, or in the parts that they came in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pellucid.base.errors import BadInput
from pellucid.base.wording import listed
from pellucid.data.shared.repeated_texts import say_repeated_in_file, say_repeated_in_parts
from pellucid.data.shared.rows import say_odd_classes
from pellucid.data.shared.splits import split_parts
from pellucid.explaining.inputs.examples import examples_from
from pellucid.run.target import Problem
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap, label_names, renamed

DEV = ("dev", "validation")  # the names of the part that chooses the epoch


@dataclass(frozen=True)
class TrainingTexts:
    """Labelled examples by part, "train" and "dev", and "test" where there is one; split: the part that is meant."""

    parts: Mapping[str, Sequence[Example]]
    are_cut: bool
    split: str = "train"

    def with_split(self, split: str) -> "TrainingTexts":
        """Another part of the same texts."""
        return replace(self, split=split)

    def training_part(self) -> list[Example]:
        """The examples of the part; raises `BadInput` where there is none."""
        if self.split not in self.parts:
            raise BadInput(f"The data have no part {self.split}; they have {listed(self.parts)}.")
        return list(self.parts[self.split])

    def training_parts(self) -> dict[str, list[Example]]:
        """The parts that training sees: "train" and "dev". Warns of texts that occur several times."""
        if self.are_cut:
            say_repeated_in_file(self.parts)
        else:
            say_repeated_in_parts({name: self.parts[name] for name in ("train", "dev")})
        return {name: list(self.parts[name]) for name in ("train", "dev")}

    def classes(self, train: Sequence[Example], problem: Problem) -> tuple[str, ...]:
        """The labels of the train texts, sorted; raises `BadInput` for fewer than two."""
        several = problem == "multi_label"
        classes = sorted({name for one in train for name in label_names(one.label, several)})
        if not train:
            raise BadInput("There are no texts to learn from.")
        if len(classes) < 2:
            raise BadInput(
                f"A classifier needs two classes or more; the labels of the texts are: {listed(classes) or 'none'}."
            )
        say_odd_classes(classes)
        return tuple(classes)


def training_texts(
    data: Any, *, text: str | Sequence[str] | None, label: str | None, label_map: LabelMap | None
) -> TrainingTexts:
    """The texts to train on from data in memory.

    data: labelled texts, which are cut into 70 / 15 / 15 %; or a mapping of parts, "train" and "dev" (or "validation"), and
        "test" where there is one. The others are as in `train`.
    """

    def read(part: Any) -> tuple[Example, ...]:
        return examples_from(part, text=text, label=label, label_map=label_map)

    def mapped(parts: Mapping[str, Sequence[Example]]) -> dict[str, Sequence[Example]]:
        return {name: one if label_map is None else renamed(one, label_map) for name, one in parts.items()}

    dev = next((name for name in DEV if isinstance(data, Mapping) and {"train", name} <= data.keys()), None)
    if dev is None:  # cut under the labels that came, as a file is
        return TrainingTexts(mapped(split_parts(read(data))), are_cut=True)
    names = {"train": "train", "dev": dev} | ({"test": "test"} if "test" in data else {})
    return TrainingTexts(mapped({part: read(data[name]) for part, name in names.items()}), are_cut=False)
