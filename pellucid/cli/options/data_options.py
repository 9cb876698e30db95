"""The options of commands that read data: how it is read, which texts of it, and where texts come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated, Any

import typer

from pellucid.api.data_source import DataSource
from pellucid.api.inputs.labels import fitting
from pellucid.api.selecting import select
from pellucid.cli.options.settings import settings_from
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.passes.model import Model
from pellucid.core.text.example import Example
from pellucid.core.text.label_map import LabelMap


@dataclass(frozen=True)
class TextFiles:
    """How texts are read, with labels or without."""

    format_: Annotated[
        str | None,
        typer.Option(
            "--format",
            help="The format of the data; `pellucid formats` lists them. Default: recognised by the file's name.",
        ),
    ] = None
    read: Annotated[
        list[str] | None, typer.Option("--read", help="A setting of the format: name=value. May be repeated.")
    ] = None
    skip_bad_rows: Annotated[
        bool, typer.Option("--skip-bad-rows", help="Leave out rows that cannot be read, and say how many.")
    ] = False
    text_column: Annotated[
        str | None, typer.Option(help="The column of the texts. Default: recognised by its name or content.")
    ] = None


@dataclass(frozen=True)
class Reading(TextFiles):
    """How data are read."""

    label_column: Annotated[
        str | None, typer.Option(help="The column of the labels. Default: recognised by its name or content.")
    ] = None
    label_map: Annotated[
        str | None,
        typer.Option(
            help='What labels mean: "1=negative,3=neutral,5=positive", each label a class of the model.'
        ),
    ] = None

    def source(self, data: str | Path, split: str, *, label_map: LabelMap | None = None) -> DataSource:
        """The data that are read so; without a map, labels are as the data have them."""
        columns = {"text": self.text_column, "label": self.label_column}
        settings = settings_from(self.read or [], "--read")
        settings |= {name: column for name, column in columns.items() if column is not None}
        return DataSource(data, split, self.format_, settings, self.skip_bad_rows, label_map)

    def of_columns(self) -> list[str]:
        """The options that were written and are about the columns or rows of data."""
        written = {
            "--read": self.read,
            "--skip-bad-rows": self.skip_bad_rows,
            "--text-column": self.text_column,
            "--label-column": self.label_column,
        }
        return [option for option, value in written.items() if value]

    def meanings(self) -> LabelMap | None:
        """What --label-map says: label -> class; None where it says nothing."""
        return None if self.label_map is None else label_map_from(self.label_map)

    def as_written(self) -> str:
        """The options as the command line writes them, for a command to try next; empty where there are none."""
        words = ["--skip-bad-rows"] if self.skip_bad_rows else []
        for option, value in (
            ("--format", self.format_),
            *(("--read", setting) for setting in self.read or []),
            ("--text-column", self.text_column),
            ("--label-column", self.label_column),
            ("--label-map", self.label_map),
        ):
            words += [] if value is None else [option, quote(value)]
        return "".join(f" {word}" for word in words)


@dataclass(frozen=True)
class Part:
    """Which part of the data is read."""

    split: Annotated[str, typer.Option(help="The part of the data: train, dev, test or all.")] = "test"


@dataclass(frozen=True)
class Amount:
    """How many texts."""

    limit: Annotated[int | None, typer.Option(min=1, help="Use only the first N texts.")] = None
    sample: Annotated[
        int | None, typer.Option(min=1, help="Use N texts at random; --seed gives the same again.")
    ] = None


@dataclass(frozen=True)
class Answers:
    """Which texts, by what the model answers; one pass of the model comes first."""

    only: Annotated[
        str | None,
        typer.Option(
            help="Only texts that the model gets wrong or right, or is unsure of: wrong, right, unsure."
        ),
    ] = None
    sort: Annotated[
        str, typer.Option(help="order, as the data have them, or confidence: the surest answers first.")
    ] = "order"

    @property
    def need_labels(self) -> bool:
        """Whether labels decide which texts they are."""
        return self.only in ("wrong", "right")


def labelled(
    model: Model, examples: Sequence[Example], reading: Reading, needed: bool = False
) -> Sequence[Example]:
    """The examples under the model's classes; where labels fit none, a notice, or, where classes are needed, `BadInput`."""
    return fitting(model, examples, reading.meanings(), "error" if needed else "notice")


def selected(
    model: Model, examples: Sequence[Example], amount: Amount, answers: Answers, seed: int
) -> list[Example]:
    """The examples that the options select."""
    return select(
        model,
        examples,
        only=answers.only,  # type: ignore[arg-type]  # checked by select
        sort=answers.sort,  # type: ignore[arg-type]
        limit=amount.limit,
        sample=amount.sample,
        seed=seed,
    )


def label_map_from(text: str) -> dict[str, str]:
    """A map of labels as the option writes it: label=class, with commas between; a comma in a name is written \\,."""
    pairs: dict[str, Any] = {}
    for pair in text.replace("\\,", "\0").split(","):
        label, equals, name = (word.replace("\0", ",").strip() for word in pair.rpartition("="))
        if not equals or not label or not name:
            raise BadSetting(
                f'--label-map {pair.strip()!r} is not label=class; write for example --label-map "1=negative,5=positive".'
            )
        pairs[label] = name
    return pairs
