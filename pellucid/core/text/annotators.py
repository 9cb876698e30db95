"""What each of several annotators marked in a text, as `meta["annotators"]` keeps it beside the rationale."""

from collections.abc import Mapping, Sequence
from typing import Any

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.text.example import Example, Rationale

ANNOTATORS = "annotators"  # its name in meta
FORM = "a list with one list of marks for each annotator, a mark being [start, end] or [text, start, end]"


def annotators_of(example: Example) -> tuple[tuple[Rationale, ...], ...]:
    """The marks of each annotator who marked anything; without `meta["annotators"]` the rationale is one annotator's.

    meta["annotators"]: one list of marks an annotator. A mark is [start, end), characters of the first text, or [segment, start,
    end). Another value than a list of lists means something else and is not read. Raises `BadInput` for marks of another form,
    or outside the text.

    >>> two = Example(("A fine film.",), meta={"annotators": [[[2, 6]], [[2, 11]], []]})
    >>> [[(mark.start, mark.end) for mark in marks] for marks in annotators_of(two)]
    [[(2, 6)], [(2, 11)]]
    """
    if not has_annotators(example.meta):
        return (example.rationales,) if example.rationales else ()
    everyone = (
        tuple(_mark(example, number, mark) for mark in marks)
        for number, marks in enumerate(example.meta[ANNOTATORS])
    )
    return tuple(marks for marks in everyone if marks)


def has_annotators(meta: Mapping[str, Any]) -> bool:  # the user's own: values of any type
    """Whether meta has a list of lists under this name."""
    value = meta.get(ANNOTATORS)
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(one, list | tuple) for one in value)
    )


def annotators_record(annotators: Sequence[Sequence[Rationale]]) -> list[list[list[int]]]:
    """Marks as `meta["annotators"]` keeps them, in plain values."""
    return [[[mark.segment, mark.start, mark.end] for mark in marks] for marks in annotators]


def _mark(example: Example, annotator: int, mark: object) -> Rationale:
    numbers = list(mark) if isinstance(mark, list | tuple) else []
    if len(numbers) not in (2, 3) or not all(type(number) is int for number in numbers):
        raise BadInput(
            f"Example {quoted(example.id)}: meta['annotators'] is {FORM}; annotator {annotator + 1} has the mark {quoted(mark)}."
        )
    segment, start, end = numbers if len(numbers) == 3 else (0, *numbers)
    n_texts = len(example.segments)
    if not 0 <= segment < n_texts:
        raise BadInput(
            f"Example {quoted(example.id)}: annotator {annotator + 1} marks text {segment}, but its texts are numbered from 0 "
            f"to {n_texts - 1}; correct meta['annotators']."
        )
    length = len(example.segments[segment])
    if not 0 <= start < end <= length:
        raise BadInput(
            f"Example {quoted(example.id)}: annotator {annotator + 1} marks the characters {start} to {end} of a text of "
            f"{length}; a mark has 0 <= start < end <= {length}. Correct meta['annotators']."
        )
    return Rationale(segment, start, end)
