"""The options of commands that read data: how it is read, which texts of it, and where texts come from."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

import typer

from pellucid.base.checks import listed
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.files import read_text
from pellucid.base.kinds import datasets
from pellucid.explaining.commands.model_options import settings_from
from pellucid.explaining.commands.safe_text import say

if TYPE_CHECKING:  # what reads data and models takes seconds to import, and `--help` needs neither
    from pellucid.base.catalogue import Choice
    from pellucid.explaining.inputs.data_source import DataSource
    from pellucid.results.explanation import Explanation
    from pellucid.run.model import Model
    from pellucid.text.example import Example
    from pellucid.text.label_map import LabelMap


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
        typer.Option(help='What labels mean: "1=negative,3=neutral,5=positive", each label a class of the model.'),
    ] = None

    def source(self, data: str | Path, split: str, *, label_map: LabelMap | None = None) -> DataSource:
        """The data that are read so; without a map, labels are as the data have them."""
        from pellucid.explaining.inputs.data_source import DataSource

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
    sample: Annotated[int | None, typer.Option(min=1, help="Use N texts at random; --seed gives the same again.")] = (
        None
    )


@dataclass(frozen=True)
class Answers:
    """Which texts, by what the model answers; one pass of the model comes first."""

    only: Annotated[
        str | None,
        typer.Option(help="Only texts that the model gets wrong or right, or is unsure of: wrong, right, unsure."),
    ] = None
    sort: Annotated[
        str, typer.Option(help="order, as the data have them, or confidence: the surest answers first.")
    ] = "order"

    @property
    def need_labels(self) -> bool:
        """Whether labels decide which texts they are."""
        return self.only in ("wrong", "right")


DataOrNone = Annotated[
    str | None,
    typer.Argument(help="The name of a data set, a data file, or a folder. Default: the texts of --explained."),
]


@dataclass(frozen=True)
class Engine:
    """What computes the work of --out."""

    engine: Annotated[
        str, typer.Option(help="What computes --out. local: processes of this machine; ray: actors of Ray.")
    ] = "local"
    address: Annotated[
        str | None, typer.Option(help="Of a cluster that the engine joins; auto: the one of this machine.")
    ] = None

    @property
    def with_settings(self) -> Choice:
        """The engine as the doors take it."""
        return self.engine if self.address is None else (self.engine, {"address": self.address})


@dataclass(frozen=True)
class Sharing(Engine):
    """Who computes the parts of --out."""

    workers: Annotated[
        int,
        typer.Option(min=1, help="Processes that compute at once, each with its own copy of the model; needs --out."),
    ] = 1
    slice_: Annotated[
        str | None,
        typer.Option(
            "--slice", help="i/n: this is job i of n that share --out, from 1/n to n/n; the last one joins the parts."
        ),
    ] = None
    reuse: Annotated[
        Path | None,
        typer.Option(
            help="The folder of an earlier call: what it has of equal text and question is copied into --out."
        ),
    ] = None
    estimate: Annotated[
        bool, typer.Option("--estimate", help="Try a few texts, say how long the work takes, and end.")
    ] = False


@dataclass(frozen=True)
class Saved:
    """Explanations in place of computing them."""

    explained: Annotated[
        str | None,
        typer.Option(
            help="Saved explanations of the texts by this model (.parquet, .json, the folder or address of a run, or a "
            "comparison's folder), which are then not computed again."
        ),
    ] = None

    def results(self) -> Sequence[Explanation] | None:
        """What was saved; None where nothing was named."""
        from pellucid.explaining.read import stored_or_read

        return None if self.explained is None else stored_or_read(self.explained)


def examples_of(source: DataSource | None, explained: Sequence[Explanation] | None) -> Sequence[Example]:
    """The texts of the data, else those that were explained before; raises `BadInput` where there are neither."""
    if source is not None:
        return source.examples()
    if explained is None:
        raise BadInput("There are no texts; give data, or explanations that were saved: --explained FILE.")
    texts: dict[tuple[str, ...], Example] = {}
    for result in explained:
        texts.setdefault(result.example.segments, result.example)
    return tuple(texts.values())


def labelled(model: Model, examples: Sequence[Example], reading: Reading, needed: bool = False) -> Sequence[Example]:
    """The examples under the model's classes; where labels fit none, a notice, or, where classes are needed,
    `BadInput`.
    """
    from pellucid.explaining.inputs.examples import fitting

    return fitting(model, examples, reading.meanings(), "error" if needed else "notice")


def selected(model: Model, examples: Sequence[Example], amount: Amount, answers: Answers, seed: int) -> list[Example]:
    """The examples that the options select."""
    from pellucid.explaining.answers import select

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
                f"--label-map {pair.strip()!r} is not label=class; write for example --label-map "
                f'"1=negative,5=positive".'
            )
        pairs[label] = name
    return pairs


# Texts of a command: its words, a pair, a file or data set, or standard input.

TEXTS = "txt"  # one text a line

ShortcutPasses = Annotated[
    int,
    typer.Option(
        min=0,
        help="Edited texts that the model answers, at most, to say whether one word, phrase or pair of words decides a "
        "class's answers; 0: that is not asked.",
    ),
]
Texts = Annotated[
    list[str] | None,
    typer.Argument(
        help="The texts, or one data file. Without any, or with -, they are read from standard input, one a line."
    ),
]


@dataclass(frozen=True)
class TextOptions:
    """Where texts come from, where not from the words of the command."""

    second: Annotated[str | None, typer.Option(help="The second text of a pair.")] = None
    file: Annotated[
        str | None,
        typer.Option(
            "--file",
            "--data",
            help="A file of texts, one a line, or data: a file, a folder or a data set's name.",
        ),
    ] = None
    split: Annotated[str, typer.Option(help="The part of --file to read: train, dev, test or all.")] = "test"

    def examples(self, texts: Sequence[str], reading: Reading) -> tuple[Example, ...]:
        """The examples; raises `BadInput` where nothing or two things were named."""
        from pellucid.text.example import prompted

        if self.second is not None:
            if len(texts) != 1 or self.file is not None:
                raise BadInput("--second makes a pair with exactly one text; give one text and no file.")
            return (prompted((texts[0], self.second), id="0"),)
        if self.file is not None:
            if texts:
                raise BadInput("Give texts or --file, not both.")
            return texts_of_file(self.file, self.split, reading)
        if list(texts) in ([], ["-"]):
            if sys.stdin.isatty():
                raise BadInput("There is no text; give one in quotes, --file FILE, or pipe texts in, one a line.")
            return _from_lines(_standard_input(), "standard input")
        return self._from_words(texts, reading)

    def _from_words(self, texts: Sequence[str], reading: Reading) -> tuple[Example, ...]:
        """Words are texts; a single one that plainly names data is read, or refused where both could be meant."""
        from pellucid.explaining.inputs.data_source import looks_like_a_file
        from pellucid.text.example import prompted

        files = [text for text in texts if _is_data_file(text)]
        if files and len(texts) > 1:
            raise BadInput(f"{files[0]} is a file among texts; give it alone: --file {files[0]}.")
        if files:
            say(f"{files[0]} is a file and is read as data (the same as --file {files[0]}).", aside=True)
            return texts_of_file(files[0], self.split, reading)
        if len(texts) == 1 and looks_like_a_file(texts[0]):
            raise BadInput(
                f"{texts[0]} looks like a file, but none of that name is read here; give the right path, --file with "
                f"--format, or, if the word itself is the text, pipe it in: echo {texts[0]} | pellucid COMMAND MODEL -"
            )
        if len(texts) == 1 and texts[0] in datasets.names():
            name = texts[0]
            raise BadInput(
                f"{name} is the name of a data set; write --data {name} for its texts, or, if the word itself is the "
                f"text, pipe it in: echo {name} | pellucid COMMAND MODEL -"
            )
        return tuple(prompted((text,), id=str(index)) for index, text in enumerate(texts))


@dataclass(frozen=True)
class ChatOptions:
    """The chats of a language model, and its answers."""

    messages: Annotated[
        Path | None,
        typer.Option(
            help="A file of chats in place of texts, a line of JSON each: a list of messages, or an object with "
            "messages and answer. The model's own template is applied."
        ),
    ] = None
    answer: Annotated[
        str | None,
        typer.Option(
            help="What the model writes after the text or chat; of a tagger, or a reader of questions, the part "
            "of the text that is asked about. Default: it writes it first; each entity; its own answer."
        ),
    ] = None

    def examples(self, model: Model, source: TextOptions, texts: Sequence[str], reading: Reading) -> Sequence[Example]:
        """The chats by the model's template, or the texts with the answer; raises `BadInput` where both came."""
        from pellucid.explaining.inputs.chats import chat_examples, chats_of_file
        from pellucid.explaining.inputs.examples import examples_for

        if self.messages is None:
            examples = source.examples(texts, reading)
            return examples if self.answer is None else examples_for(model, examples, answer=self.answer)
        if texts or source.file or source.second:
            raise BadInput("Give texts or --messages, not both.")
        return chat_examples(model, chats_of_file(self.messages), self.answer, None)


def _is_data_file(text: str) -> bool:
    from pellucid.data.load import ENDINGS, ending_of

    try:
        return ending_of(text) in (*ENDINGS, TEXTS) and Path(text).is_file()
    except (OSError, ValueError):  # no path: longer than any, or with a zero byte
        return False


def _standard_input() -> str:
    try:
        return sys.stdin.read().removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise BadInput(f"Standard input is not UTF-8 text (byte {error.start}); convert it first.") from None


def texts_of_file(name: str, split: str, reading: Reading) -> tuple[Example, ...]:
    """The examples of a data file, a folder or a data set; any other file is plain text, one text a line.

    Raises `BadFile` for a file that cannot be read so, and `BadInput` for options that plain text has no use for.
    """
    from pellucid.data.load import is_plain_text

    path = Path(name)
    if reading.format_ is None and not path.is_dir() and name not in datasets.names() and is_plain_text(name):
        if options := reading.of_columns():
            raise BadInput(
                f"{name} is read as plain text, one text a line, so {listed(options)} means nothing; add --format, or "
                f"leave it away."
            )
        return _from_lines(read_text(path), name)
    examples = tuple(reading.source(name, split).examples())
    if not examples:
        raise BadInput(f"There is no text in {name}; give one example a line.")
    return examples


def _from_lines(text: str, where: str) -> tuple[Example, ...]:
    from pellucid.text.example import as_examples

    every = text.removesuffix("\n").split("\n")
    lines = [line for line in every if line.strip()]
    if not lines:
        raise BadInput(f"There is no text in {where}; give one text a line.")
    if blank := len(every) - len(lines):
        say(f"Of the {len(every)} lines of {where}, {blank} have no text and are left out.", aside=True)
    return as_examples(lines)
