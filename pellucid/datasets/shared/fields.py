"""Which fields of a row are its texts, label and id, when the user does not name them."""

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
    """The names of the texts: those given, else the first of the usual ones that are all there.

    Raises `ValueError` when none are, `UnknownName` for a given name that is not there.
    """
    if text is None and second is not None:
        raise BadSetting(f"second={second!r} names the second text of a pair; name the first with text=.")
    if text is not None:
        given = (text,) if second is None else (text, second)
        for name in given:
            known("field", name, there)
        return given
    found = next((names for names in TEXTS if all(name in there for name in names)), None)
    if found is None:
        usual = " / ".join("+".join(names) for names in TEXTS)
        raise ValueError(f"none of the fields {usual} is there; name yours with text= (and second=)")
    return found


def label_field(there: Collection[str], label: str | None) -> str | None:
    """The name of the label: the one given, else "label" where it is there; a given one must be there."""
    if label is not None:
        known("field", label, there)
        return label
    return "label" if "label" in there else None
