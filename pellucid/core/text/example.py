"""An example: one text or a pair, with its label and, where people marked why, their rationale."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from pellucid.core.foundation.checks import listed_members
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.wording import clipped, quoted


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
        for number, text in enumerate(self.segments):
            if number or text != "" or not self.may_begin_empty:
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
    """A text or pair that begins with an empty text: a prompt, after which a model writes from the token that begins texts."""

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
        raise BadInput(
            f"An example has a tuple of texts, Example((text,)); {type(example.segments).__name__} came."
        )
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
    raise BadInput(
        f"Text {index} is {type(text).__name__}; give a string, a pair of strings, or a pellucid.Example."
    )
