"""An example: one text or a pair, with its label and, where people marked why, their rationale."""

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from typing import Any, ClassVar

import numpy as np

from pellucid.base.checks import clipped, listed, listed_members, quoted
from pellucid.base.errors import BadInput
from pellucid.text.units import Units


@dataclass(frozen=True)
class Rationale:
    """Characters [start, end) of one segment that a person marked as the reason for the label."""

    segment: int
    start: int
    end: int


@dataclass(frozen=True)
class Example:
    """What is explained: one or two texts, exactly as the user wrote them.

    segments: the text, or the two texts of a pair, in a tuple.
    label: the class that it belongs to; None where that is not known.
    rationales: the parts that people marked as the reason for the label.
    id: its name in results; "" for none.
    meta: whatever else is known, name -> plain value.

    Raises `BadInput` for no text, more than two, blank ones, lone surrogates, or rationales outside the text.

    >>> pair = pellucid.Example(("The cat sleeps.", "It is awake."), label="contradiction", id="pair-1")
    >>> pair.text
    'The cat sleeps. ⫽ It is awake.'
    """

    segments: tuple[str, ...]
    label: str | None = None
    rationales: tuple[Rationale, ...] = ()
    id: str = ""
    meta: Mapping[str, Any] = field(default_factory=dict)  # the user's own: values of any type
    may_begin_empty: ClassVar[bool] = False

    def __post_init__(self) -> None:
        _check_fields(self)
        object.__setattr__(self, "segments", tuple(self.segments))
        object.__setattr__(self, "rationales", tuple(self.rationales))
        if not 1 <= len(self.segments) <= 2:
            raise BadInput(f"An example has one text or a pair; {len(self.segments)} came.")
        for index, text in enumerate(self.segments):
            if index or text != "" or not self.may_begin_empty:
                _check_text(text, self.id)
        for name, value in (("label", self.label), ("id", self.id)):
            if value is not None and not (isinstance(value, str) and is_utf8(value)):
                raise BadInput(
                    f"The {name} of an example must be a string without lone surrogates; {quoted(value)} came."
                )
        for mark in self.rationales:
            if not (
                0 <= mark.segment < len(self.segments)
                and 0 <= mark.start < mark.end <= len(self.segments[mark.segment])
            ):
                raise BadInput(f"Example {quoted(self.id)}: {_misplaced(mark, self.segments)}")

    @property
    def text(self) -> str:
        """All segments in one line, for listings."""
        return " ⫽ ".join(self.segments)


@dataclass(frozen=True)
class EmptyPrompt(Example):
    """A text or pair that begins with an empty text: a prompt, after which a model writes from the token that begins
    texts.
    """

    may_begin_empty: ClassVar[bool] = True


def prompted(segments: Sequence[str], *fields: Any, **named: Any) -> Example:  # Any: the fields of an example
    """An `Example` whose first text may be empty, for models that write."""
    kind = EmptyPrompt if list(segments[:1]) == [""] else Example
    return kind(tuple(segments), *fields, **named)


def check_no_prompt(examples: Iterable[Example]) -> None:
    """Raise `BadInput` where a text is empty, as only the prompt of a model that writes can be."""
    for example in examples:
        for text in example.segments:
            _check_text(text, example.id)


def group_of(example: Example) -> str:
    """What stays together when a file is cut into parts: the group that the meta names, else the id, else the text."""
    return str(example.meta.get("group") or example.id or example.text)


def _misplaced(mark: Rationale, segments: Sequence[str]) -> str:
    """Why a mark cannot be, and what can."""
    if not 0 <= mark.segment < len(segments):
        return f"a mark is of text number {mark.segment}, and there are {len(segments)}, counted from 0."
    length = len(segments[mark.segment])
    return f"the mark [{mark.start}, {mark.end}) has no characters of its text; give 0 <= start < end <= {length}."


def _check_fields(example: Example) -> None:
    """Raise `BadInput` for fields of other kinds than an example has."""
    if not isinstance(example.segments, tuple | list):
        raise BadInput(f"An example has a tuple of texts, Example((text,)); {type(example.segments).__name__} came.")
    if not isinstance(example.id, str):
        raise BadInput(f"The id of an example must be a string; {quoted(example.id)} came.")
    marks = example.rationales
    if not isinstance(marks, tuple | list) or not all(isinstance(mark, Rationale) for mark in marks):
        raise BadInput(f"The rationales of an example are a tuple of Rationale; {quoted(marks)} came.")
    if not isinstance(example.meta, Mapping):
        raise BadInput(f"The meta of an example is a dictionary; {type(example.meta).__name__} came.")


# What users give to be explained; one text is a list of one.
Texts = Iterable[str | tuple[str, str] | Example] | str


def is_utf8(text: str) -> bool:
    """Whether a text can be written as UTF-8: no half of a surrogate pair is in it."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _check_text(text: object, name: str) -> None:
    where = f" (example {clipped(name)})" if name else ""
    if not isinstance(text, str):
        raise BadInput(f"A text must be a string; {type(text).__name__} came{where}.")
    if not text.strip():
        raise BadInput(f"A text is empty{where}; give at least one visible character.")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise BadInput(
            f"A text holds half a surrogate pair at character {error.start}{where}; decode the file again or remove it."
        ) from None


def as_examples(texts: Iterable[object] | str) -> tuple[Example, ...]:
    """Examples from what users have: strings, pairs of strings, or examples; one text is a list of one."""
    if isinstance(texts, str | Example):
        texts = [texts]
    members = listed_members(texts)
    if members is None or (hasattr(texts, "iloc") and hasattr(texts, "columns")):
        raise BadInput(
            f"Texts are {type(texts).__name__}; give a list of strings, of pairs of strings, or of examples. "
            "pellucid.predict and pellucid.explain read tables and files too."
        )
    return tuple(_as_example(text, index) for index, text in enumerate(members))


def _as_example(text: object, index: int) -> Example:
    if isinstance(text, Example):
        return text
    if isinstance(text, str):
        return Example((text,), id=str(index))
    if isinstance(text, tuple | list) and len(text) == 2:
        return Example(tuple(text), id=str(index))
    raise BadInput(f"Text {index} is {type(text).__name__}; give a string, a pair of strings, or a pellucid.Example.")


# Which units of a text people marked as the reason for its label.


def marked(units: Units, marks: Sequence[Rationale]) -> np.ndarray | None:
    """[unit] bool over the units that are text: True where one overlaps a mark; None without marks."""
    if not marks:
        return None
    return np.array([any(_overlaps(units, index, mark) for mark in marks) for index in units.content])


def _overlaps(units: Units, index: int, mark: Rationale) -> bool:
    same = units.segment[index] == mark.segment
    return same and units.start[index] < mark.end and units.end[index] > mark.start


# What each of several annotators marked in a text, as `meta["annotators"]` keeps it beside the rationale.

ANNOTATORS = "annotators"  # its name in meta
SPANS = "rationales"  # where some data sets have the marks, beside other facts of the annotators
TEXTS = {"text": 0, "premise": 0, "text_a": 0, "hypothesis": 1, "text_b": 1}
FORM = "a list with one list of marks for each annotator, a mark being [start, end] or [text, start, end]"


def annotators_of(example: Example) -> tuple[tuple[Rationale, ...], ...]:
    """The marks of each annotator who marked anything; without `meta["annotators"]` the rationale is one annotator's.

    meta["annotators"]: one list of marks an annotator. A mark is [start, end), characters of the first text, or
    [segment, start, end). An annotator may also be a dictionary with marks under the names of texts ("premise",
    "hypothesis" ...), and marks may be in `meta["rationales"]` instead. Values of other forms mean something else and
    are not read. Raises `BadInput` for marks of another form, or outside the text.

    >>> two = Example(("A fine film.",), meta={"annotators": [[[2, 6]], [[2, 11]], []]})
    >>> [[(mark.start, mark.end) for mark in marks] for marks in annotators_of(two)]
    [[(2, 6)], [(2, 11)]]
    """
    entries = _entries(example.meta)
    if not entries:
        return (example.rationales,) if example.rationales else ()
    everyone = (tuple(_mark(example, annotator, mark) for mark in marks) for annotator, marks in enumerate(entries))
    return tuple(marks for marks in everyone if marks)


def has_annotators(meta: Mapping[str, Any]) -> bool:  # the user's own: values of any type
    """Whether meta says what each annotator marked."""
    return bool(_entries(meta))


def _entries(meta: Mapping[str, Any]) -> list[list[Any]]:
    """One list of marks an annotator, unchecked; none where these entries of meta mean something else."""
    value, others = meta.get(ANNOTATORS, ()), meta.get(SPANS, ())
    if _are(value, list | tuple):
        return [list(marks) for marks in value]
    if _are(value, Mapping) and all(TEXTS.keys() & by_text.keys() for by_text in value):
        return [_of_texts(by_text) for by_text in value]
    if _are(others, list | tuple) and all(_are(marks, list | tuple) or not marks for marks in others):
        return [list(marks) for marks in others]
    return []


def _are(value: object, kind: Any) -> bool:  # a type or a union of types
    """Whether a value is a list of one or more members of this kind."""
    return isinstance(value, list | tuple) and bool(value) and all(isinstance(member, kind) for member in value)


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
    if len(numbers) not in (2, 3) or not all(type(value) is int for value in numbers):
        raise BadInput(
            f"Example {quoted(example.id)}: meta['annotators'] is {FORM}; annotator {annotator + 1} has the mark "
            f"{quoted(mark)}."
        )
    segment, start, end = numbers if len(numbers) == 3 else (0, *numbers)
    n_texts = len(example.segments)
    if not 0 <= segment < n_texts:
        raise BadInput(
            f"Example {quoted(example.id)}: annotator {annotator + 1} marks text {segment}, but its texts are numbered "
            f"from 0 to {n_texts - 1}; correct meta['annotators']."
        )
    length = len(example.segments[segment])
    if not 0 <= start < end <= length:
        raise BadInput(
            f"Example {quoted(example.id)}: annotator {annotator + 1} marks the characters {start} to {end} of a text "
            f"of {length}; a mark has 0 <= start < end <= {length}. Correct meta['annotators']."
        )
    return Rationale(segment, start, end)


# Which texts a model has seen in training: it stores their digests, but no texts and no file names.


def text_digest(example: Example) -> str:
    """16 hexadecimal digits for the text or pair as it is written, whatever its label."""
    segments = json.dumps(example.segments, ensure_ascii=False)
    return blake2b(segments.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def seen_in_training(model: object, examples: Sequence[Example]) -> list[bool]:
    """[example]: whether its text was in the train or dev part; all False for a model without such digests."""
    known: frozenset[str] = getattr(model, "trained_texts", frozenset())
    return [text_digest(example) in known for example in examples] if known else [False] * len(examples)


def seen_caveats(model: object, examples: Sequence[Example]) -> tuple[str, ...]:
    """One sentence where some of the examples were seen in training; none otherwise."""
    seen = sum(seen_in_training(model, examples))
    if not seen:
        return ()
    return (
        f"{seen:,} of {len(examples):,} texts were in the train or dev part that the model was made with; what holds "
        f"of them need not hold of new texts.",
    )


# Which data texts come from, by their ids.

MOST_SOURCES = 3
PLACE = re.compile(r"[-_ ]?\d+(/\d+)?$")  # what tells the rows of one file apart


def distinct_texts(examples: Iterable[Example]) -> tuple[Example, ...]:
    """The first example of each text: a text that a file repeats is one text."""
    first: dict[tuple[str, ...], Example] = {}
    for example in examples:
        first.setdefault(example.segments, example)
    return tuple(first.values())


def data_of(ids: Sequence[str]) -> str:
    """The data that the ids of texts name, such as "reviews" of reviews-7; empty where ids are numbers alone."""
    return sources_in_words(map(source_of, ids))


def source_of(id_: str) -> str:
    """The data that the id of a text names; empty where it is a number alone."""
    return PLACE.sub("", id_)


def sources_in_words(names: Iterable[str]) -> str:
    """The names of data, each once; of many the first ones."""
    sources = [name for name in dict.fromkeys(names) if name]
    if len(sources) > MOST_SOURCES:
        return f"{len(sources):,} sources: {', '.join(sources[:MOST_SOURCES])}, …"
    return listed(sources) if sources else ""
