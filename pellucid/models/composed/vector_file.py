"""Word vectors in a text file, as GloVe and fastText have them: a line a word, the word and then its numbers.

Pennington, Socher & Manning (2014), "GloVe"; Bojanowski et al. (2017), "Enriching Word Vectors with Subword
Information", whose files begin with a line of two whole numbers.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

import torch
from torch import Tensor

from pellucid.base.checks import quoted
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors
from pellucid.base.json_text import file_digest

NAMED = ("minilm", "random")  # vectors that are in no file of the user's


def vector_file(settings: Mapping[str, object]) -> Path | None:
    """The file that an encoder's word vectors come from, where its setting `vectors` names one; else None."""
    vectors = settings.get("vectors")
    return None if vectors is None or vectors in NAMED else Path(str(vectors)).expanduser()


def vector_file_digest(settings: Mapping[str, object]) -> str:
    """A digest of that file's content; "" where there is no such file."""
    path = vector_file(settings)
    return file_digest(path) if path is not None and path.is_file() else ""


def read_vectors(path: Path, words: Collection[str]) -> dict[str, Tensor]:
    """The vectors [width] of those of the words that are in the file; of a repeated word the first one.

    Every line is checked. Raises `BadFile` for a line that is broken, with its number, for a file without any vector,
    and where none of the words is in it.
    """
    vectors: dict[str, Tensor] = {}
    wanted = set(words)
    for word, numbers in _lines(path):
        if word in wanted and word not in vectors:
            vectors[word] = torch.tensor(numbers)
    if not vectors:
        raise BadFile(
            f"{path} has a vector for none of the {len(wanted):,} words of the train texts; give vectors of their "
            f"language, in lower case."
        )
    return vectors


def all_vectors(path: Path) -> tuple[list[str], Tensor]:
    """(the words of a file, [word width] their vectors); raises `BadFile` for a line that is broken, with its number,
    and an empty file.
    """
    words, rows = [], []
    for word, numbers in _lines(path):
        words.append(word)
        rows.append(torch.tensor(numbers))
    return words, torch.stack(rows)


def _lines(path: Path) -> Iterator[tuple[str, list[float]]]:
    """Each line's word and numbers, as many as the first line has."""
    width = 0
    with disk_errors("read", path), path.open("rb") as file:
        for position, line in enumerate(file, start=1):
            try:
                fields = line.decode().rstrip("\r\n ").split(" ")
                if position == 1 and len(fields) == 2 and all(field.isdecimal() for field in fields):
                    continue  # fastText's first line: how many words, how many numbers each
                width = width or len(fields) - 1
                yield _word_and_numbers(fields, width)
            except ValueError as error:
                raise BadFile(
                    f"{path}, line {position}: {_why(error)}; a line is a word and its numbers, with blanks between "
                    "them."
                ) from None
    if not width:
        raise BadFile(f"{path} is empty; give a text file of word vectors, a line a word.")


def _word_and_numbers(fields: list[str], width: int) -> tuple[str, list[float]]:
    """The word, which may have blanks inside, and its numbers; raises `ValueError` for another form."""
    if width < 1 or len(fields) <= width:
        raise ValueError(f"it has {len(fields) - 1} numbers and {max(width, 1)} are due")
    if len(fields) > width + 1 and _is_number(fields[-width - 1]):
        raise ValueError(f"it has more than the {width} numbers that are due")
    numbers = list(map(float, fields[-width:]))
    if not math.isfinite(sum(numbers)):
        raise ValueError("one of its numbers is not finite")
    return " ".join(fields[:-width]), numbers


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _why(error: ValueError) -> str:
    """What is wrong with a line, in words of ours also where Python found it."""
    if isinstance(error, UnicodeDecodeError):
        return "it is not in UTF-8"
    text = str(error)
    if text.startswith("could not convert"):
        return f"{quoted(text.split(': ', 1)[1].strip(chr(39)))} is no number"
    return text
