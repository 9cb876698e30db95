"""Fields with the names that published data use: the text or the pair, and the label."""

from collections.abc import Collection

from pellucid.core.foundation.checks import known
from pellucid.core.foundation.errors import BadSetting

TEXTS = (
    ("text",),
    ("sentence",),
    ("review",),
    ("premise", "hypothesis"),
    ("text_a", "text_b"),
    ("sentence1", "sentence2"),
    ("question1", "question2"),
    ("source", "target"),
    ("en", "de"),
)


def named_fields(there: Collection[str], text: str | None, second: str | None) -> tuple[str, ...]:
    """The fields that the user names for the texts; none where no name came.

    there: all fields. Raises `UnknownName` for a field that is not there, `BadSetting` for a second text without a first.
    """
    if text is None and second is not None:
        raise BadSetting(f"second={second!r} names the second text of a pair; name the first with text=.")
    if text is None:
        return ()
    names = (text,) if second is None else (text, second)
    for name in names:
        known("field", name, there)
    return names


def usual_fields(there: Collection[str]) -> tuple[str, ...]:
    """The first of the usual fields for a text or a pair that is there; none where none is."""
    return next((names for names in TEXTS if all(name in there for name in names)), ())


def label_field(there: Collection[str], label: str | None) -> str | None:
    """The field that holds the label: the one that the user names, else "label" where the row has it, else None."""
    if label is not None:
        known("field", label, there)
        return label
    return "label" if "label" in there else None
