"""Examples from rows: strings, pairs, texts with their labels, dictionaries, examples, and results of other doors."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadInput, PellucidError
from pellucid.explaining.inputs.columns import examples_from_columns
from pellucid.explaining.inputs.readings import (
    ReadingRequest,
    in_words,
    is_missing,
    label_text,
    notify_reading,
    plain,
)
from pellucid.text.example import Example, prompted
from pellucid.text.label_map import suggested_map


def examples_from_rows(data: Iterable[Any], reading: ReadingRequest) -> tuple[Example, ...]:
    """The example of each row, under its number where it has no id of its own."""
    if isinstance(data, Example):
        data = [data]
    if pair := _one_pair(data):
        return _one_row(pair, reading)
    rows = [_row(row) for row in _members(data)]
    if rows and all(isinstance(row, Mapping) for row in rows):
        names = dict.fromkeys(str(name) for row in rows for name in row)
        return examples_from_columns({name: [row.get(name) for row in rows] for name in names}, reading)
    reading.without_columns(data)
    labelled = _are_labelled(rows, reading.labels)
    if labelled:
        notify_reading(
            f"Read the last member of each row ({listed(sorted(_lasts(rows)))}) as its label; write "
            "pellucid.Example((first, second)) for pairs of texts."
        )
    return tuple(_example(row, number, labelled) for number, row in enumerate(rows))


def _members(data: Iterable[Any]) -> Iterable[Any]:
    """The rows; raises `BadInput` where what came cannot be iterated over."""
    try:
        return list(data)
    except PellucidError:
        raise
    except Exception as error:
        raise BadInput(
            f"The texts came as {type(data).__name__}, whose members cannot be read ({type(error).__name__}); give a "
            f"list."
        ) from None


def _row(row: Any) -> Any:
    """A row as a string, tuple, mapping or example."""
    inside = getattr(row, "example", None)
    if isinstance(inside, Example):  # an explanation, an extraction, an analysis
        return inside
    if callable(fields := getattr(row, "_asdict", None)):  # a row of a data frame
        return fields()
    if getattr(row, "ndim", 0) == 1:
        return tuple(map(plain, row))
    return plain(row)


def _one_pair(data: Any) -> tuple[Any, ...] | None:
    """A tuple that is one row: two strings, or a string and a number."""
    if type(data) is tuple and len(data) == 2 and isinstance(data[0], str):
        second = plain(data[1])
        return data if isinstance(second, str | int | float) else None
    return None


def _one_row(pair: tuple[Any, ...], reading: ReadingRequest) -> tuple[Example, ...]:
    reading.without_columns(pair)
    labelled = _are_labelled([pair], reading.labels)
    what = f"one text with the label {quoted(pair[1])}" if labelled else "one pair of texts"
    notify_reading(f"Read the tuple as {what}; write a list for two texts: [first, second].")
    return (_example(pair, 0, labelled),)


def _are_labelled(rows: Sequence[Any], labels: Sequence[str]) -> bool:
    """Whether rows of two or three members end with a label; raises `BadInput` where some end with one and some with a
    text.
    """
    tuples = [row for row in rows if isinstance(row, tuple | list) and len(row) in (2, 3)]
    if not tuples or not all(isinstance(row[0], str) for row in tuples):
        return False
    if all(_is_number(row[-1]) for row in tuples):
        return True
    lasts = {row[-1] for row in tuples if isinstance(row[-1], str)}
    fits = lasts & set(labels)
    if fits and fits != lasts and len(tuples) > 1:
        raise BadInput(_mixture(next(iter(sorted(lasts - fits)))))
    return bool(fits) or (bool(labels) and lasts == suggested_map(lasts, labels).keys() and bool(lasts))


def _is_number(value: Any) -> bool:
    return not isinstance(value, str | bytes) and isinstance(plain(value), int | float) and not is_missing(value)


def _mixture(other: str) -> str:
    return (
        f"The last members are classes of the model in some rows and not in others (such as {quoted(other)}); write "
        "pellucid.Example((text,), label) for a text with its label, pellucid.Example((first, second)) for a pair."
    )


def _lasts(rows: Sequence[Any]) -> set[str]:
    return {str(plain(row[-1])) for row in rows if isinstance(row, tuple | list) and len(row) in (2, 3)}


def _example(row: Any, number: int, labelled: bool) -> Example:
    if isinstance(row, Example):
        return row
    if isinstance(row, str):
        return prompted((row,), id=str(number))
    if not isinstance(row, tuple | list):
        raise BadInput(
            f"Text {number} is {in_words(row)}; give a string, a pair of strings, or a pellucid.Example, and leave "
            f"missing ones out."
        )
    texts = row[:-1] if labelled else row
    if len(texts) not in ((1, 2) if labelled else (2,)) or not all(isinstance(text, str) for text in texts):
        raise BadInput(_no_pair(row, number))
    if isinstance(row, list) and not labelled and not any(" " in text for text in row):
        raise BadInput(
            f"Text {number} is a list of two words; write ' '.join(words) for one text, or a tuple for a pair of texts."
        )
    return prompted(tuple(map(str, texts)), label_text(row[-1], number) if labelled else None, id=str(number))


def _no_pair(row: Sequence[Any], number: int) -> str:
    if row and all(isinstance(word, str) for word in row):
        kind = "list" if isinstance(row, list) else "tuple"
        count = "1 string" if len(row) == 1 else f"{len(row)} strings"
        return (
            f"Text {number} is a {kind} of {count}; for a text in words write ' '.join(words), for a pair give "
            "two strings."
        )
    odd = next((member for member in row if not isinstance(member, str)), None)
    inside = f", with a member that is {in_words(odd)}" if row else ""
    return f"Text {number} is {in_words(row)}{inside}; give a string, a pair of strings, or a pellucid.Example."
