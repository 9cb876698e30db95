"""CSV without header: the number of the class, then one or more texts, all in quotes.

Zhang, Zhao & LeCun (2015), "Character-level Convolutional Networks for Text Classification", whose eight data
sets have this form.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from pellucid.core.text.example import Example
from pellucid.datasets.shared.delimited import comma_records
from pellucid.datasets.shared.part_files import part_file, row_id
from pellucid.datasets.shared.rows import ReadRow, label_of, read_rows
from pellucid.datasets.shared.splits import held_out

FILES = {"train": ("train.csv",), "dev": ("train.csv",), "test": ("test.csv",)}


def numbered_csv(
    path: Path, split: str, names: Sequence[str], n_texts: int, unescape: Callable[[str], str]
) -> Iterator[ReadRow]:
    """The examples of a part.

    names: of the classes, from number 1 on. n_texts: texts in a row; they become one text, a line each. unescape: what
    turns a field as it is written into its text.
    """
    file = part_file(path, split, FILES)
    labels = {str(number): name for number, name in enumerate(names, start=1)}
    make = partial(_example, file=file, labels=labels, n_texts=n_texts, unescape=unescape)
    yield from held_out(read_rows(file, comma_records(file), make), path, split)


def _example(
    fields: list[str],
    line: int,
    *,
    file: Path,
    labels: dict[str, str],
    n_texts: int,
    unescape: Callable[[str], str],
) -> list[Example]:
    if len(fields) != n_texts + 1:
        raise ValueError(f"it has {len(fields)} fields; a class number and {n_texts} more are due")
    text = "\n".join(part for part in map(unescape, fields[1:]) if part.strip())
    return [Example((text,), label_of(fields[0].strip(), labels), (), row_id(file, line))]


def with_line_breaks(text: str) -> str:
    r"""A text whose line breaks are written \n and whose quotes are written \", as in Yelp and Yahoo! Answers."""
    return text.replace("\\n", "\n").replace('\\"', '"')
