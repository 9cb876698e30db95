"""Texts of a command: its words, a pair, a file or data set, or standard input."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from pellucid.api.inputs.files import looks_like_a_file
from pellucid.cli.options.data_options import Reading
from pellucid.cli.printing.safe_text import say
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.files import read_text
from pellucid.core.foundation.kinds import datasets
from pellucid.core.foundation.wording import listed
from pellucid.core.text.example import Example, as_examples, prompted
from pellucid.datasets.load import ENDINGS, ending_of, is_plain_text

TEXTS = "txt"  # one text a line

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
                raise BadInput(
                    "There is no text; give one in quotes, --file FILE, or pipe texts in, one a line."
                )
            return _from_lines(_standard_input(), "standard input")
        return self._from_words(texts, reading)

    def _from_words(self, texts: Sequence[str], reading: Reading) -> tuple[Example, ...]:
        """Words are texts; a single one that plainly names data is read, or refused where both could be meant."""
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
                f"{name} is the name of a data set; write --data {name} for its texts, or, if the word itself is the text, "
                f"pipe it in: echo {name} | pellucid COMMAND MODEL -"
            )
        return tuple(prompted((text,), id=str(number)) for number, text in enumerate(texts))


def _is_data_file(text: str) -> bool:
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
    path = Path(name)
    if reading.format_ is None and not path.is_dir() and name not in datasets.names() and is_plain_text(name):
        if options := reading.of_columns():
            raise BadInput(
                f"{name} is read as plain text, one text a line, so {listed(options)} means nothing; add --format, or leave it away."
            )
        return _from_lines(read_text(path), name)
    examples = tuple(reading.source(name, split).examples())
    if not examples:
        raise BadInput(f"There is no text in {name}; give one example a line.")
    return examples


def _from_lines(text: str, where: str) -> tuple[Example, ...]:
    every = text.removesuffix("\n").split("\n")
    lines = [line for line in every if line.strip()]
    if not lines:
        raise BadInput(f"There is no text in {where}; give one text a line.")
    if blank := len(every) - len(lines):
        say(f"Of the {len(every)} lines of {where}, {blank} have no text and are left out.", aside=True)
    return as_examples(lines)
