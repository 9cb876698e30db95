"""Concepts as word lists: a text file with a concept a line, or a JSON object."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import read_text
from pellucid.core.foundation.kinds import concept_readers
from pellucid.core.foundation.wording import listed
from pellucid.core.text.concept import Concept

FORM = "write `concept: word, word`"


@concept_readers.add(
    reads="lines such as `time: year, day`, or a JSON object of lists",
    endings=("txt", "json"),
    names_needed=False,
)
def word_lists(path: Path, names: Sequence[str], most: int) -> list[Concept]:
    """Lines of a concept with its words, or a JSON object: concept -> list of words.

    Empty lines and lines that begin with # are passed over. names: the concepts to read, in this order; empty: all. most:
    the most words of each, the first ones of the file.

    Raises `BadFile`, with the line, for a line of another form or a second line of one concept, and for a name that the file
    does not have.
    """
    text = read_text(path)
    lists = _from_json(path, text) if path.suffix == ".json" else dict(_from_lines(path, text))
    strange = [name for name in names if name not in lists]
    if strange or not lists:
        has = f"it has {listed(lists)}" if lists else f"it is empty; {FORM}, a concept a line"
        raise BadFile(f"{path} has no concept {listed(strange)}: {has}." if strange else f"{path}: {has}.")
    return [Concept(name, tuple(lists[name])[:most]) for name in names or lists]


def _from_lines(path: Path, text: str) -> Iterator[tuple[str, list[str]]]:
    seen: set[str] = set()
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        name, colon, rest = line.partition(":")
        words = [word.strip() for word in rest.split(",") if word.strip()]
        if not (colon and name.strip() and words):
            raise BadFile(f"Line {number} of {path} is no concept with its words; {FORM}.")
        if name.strip() in seen:
            raise BadFile(
                f"Line {number} of {path} names {name.strip()!r} again; write its words in one line."
            )
        seen.add(name.strip())
        yield name.strip(), words


def _from_json(path: Path, text: str) -> dict[str, list[str]]:
    try:
        record = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        line = f"Line {error.lineno} of {path}" if isinstance(error, json.JSONDecodeError) else str(path)
        raise BadFile(f'{line} is no JSON; write {{"concept": ["word", "word"]}}.') from None
    if not isinstance(record, dict):
        raise BadFile(f'{path} is no JSON object; write {{"concept": ["word", "word"]}}.')
    for name, words in record.items():
        if not (isinstance(words, list) and words and all(isinstance(word, str) for word in words)):
            raise BadFile(f"Concept {name!r} of {path} has no list of words; give one word or more.")
    return record
