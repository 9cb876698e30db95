"""Which fields of a row are its texts and its label."""

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


def text_fields(there: Collection[str], text: str | None, second: str | None) -> tuple[str, ...]:
    """The fields that hold the texts: those that the user names, else the first usual ones that the row has.

    there: all fields of the row. Raises `ValueError` where it has none of the usual ones, `UnknownName` where it lacks
    one that the user names.
    """
    if text is None and second is not None:
        raise BadSetting(f"second={second!r} names the second text of a pair; name the first with text=.")
    if text is not None:
        names = (text,) if second is None else (text, second)
        for name in names:
            known("field", name, there)
        return names
    usual_names = next((names for names in TEXTS if all(name in there for name in names)), None)
    if usual_names is None:
        usual = " / ".join("+".join(names) for names in TEXTS)
        raise ValueError(f"none of the fields {usual} is there; name yours with text= (and second=)")
    return usual_names


def label_field(there: Collection[str], label: str | None) -> str | None:
    """The field that holds the label: the one that the user names, else "label" where the row has it, else None."""
    if label is not None:
        known("field", label, there)
        return label
    return "label" if "label" in there else None
