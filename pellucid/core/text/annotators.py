"""What each of several annotators marked in a text, as `meta["annotators"]` keeps it beside the rationale."""

from collections.abc import Mapping, Sequence
from typing import Any

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import quoted
from pellucid.core.text.example import Example, Rationale

ANNOTATORS = "annotators"  # its name in meta
SPANS = "rationales"  # where some data sets have the marks, beside other facts of the annotators
TEXTS = {"text": 0, "premise": 0, "text_a": 0, "hypothesis": 1, "text_b": 1}
FORM = "a list with one list of marks for each annotator, a mark being [start, end] or [text, start, end]"


def annotators_of(example: Example) -> tuple[tuple[Rationale, ...], ...]:
    """The marks of each annotator who marked anything; without `meta["annotators"]` the rationale is one annotator's.

    meta["annotators"]: one list of marks an annotator. A mark is [start, end), characters of the first text, or [segment, start,
    end). An annotator may also be a dictionary with marks under the names of texts ("premise", "hypothesis" ...), and marks may be in
    `meta["rationales"]` instead. Values of other forms mean something else and are not read. Raises `BadInput` for marks of another form,
    or outside the text.

    >>> two = Example(("A fine film.",), meta={"annotators": [[[2, 6]], [[2, 11]], []]})
    >>> [[(mark.start, mark.end) for mark in marks] for marks in annotators_of(two)]
    [[(2, 6)], [(2, 11)]]
    """
    entries = _entries(example.meta)
    if not entries:
        return (example.rationales,) if example.rationales else ()
    everyone = (tuple(_mark(example, number, mark) for mark in marks) for number, marks in enumerate(entries))
    return tuple(marks for marks in everyone if marks)


def has_annotators(meta: Mapping[str, Any]) -> bool:  # the user's own: values of any type
    """Whether meta says what each annotator marked."""
    return bool(_entries(meta))


def _entries(meta: Mapping[str, Any]) -> list[list[Any]]:
    """One list of marks an annotator, unchecked; none where these entries of meta mean something else."""
    value, others = meta.get(ANNOTATORS, ()), meta.get(SPANS, ())
    if _are(value, list | tuple):
        return [list(marks) for marks in value]
    if _are(value, Mapping) and all(TEXTS.keys() & one.keys() for one in value):
        return [_of_texts(one) for one in value]
    if _are(others, list | tuple) and all(_are(marks, list | tuple) or not marks for marks in others):
        return [list(marks) for marks in others]
    return []


def _are(value: object, kind: Any) -> bool:  # a type or a union of types
    """Whether a value is a list of one or more members of this kind."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(one, kind) for one in value)


def _of_texts(annotator: Mapping[str, Any]) -> list[Any]:
    """The marks that an annotator has under the names of texts."""
    return [
        [segment, *mark] if isinstance(mark, list | tuple) else mark
        for name, segment in TEXTS.items()
        for mark in annotator.get(name, ())
    ]


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
