"""Texts with [[marked]] evidence, as an author types them: the form of our own corpus's files."""

from pellucid.core.text.example import Rationale

OPEN, CLOSE = "[[", "]]"


def unmark(marked: str, segment: int = 0) -> tuple[str, list[Rationale]]:
    """The plain text, and where its [[...]] parts lie; raises `ValueError` when brackets do not match."""
    text, rationales = "", []
    head, *marked_parts = marked.split(OPEN)
    if CLOSE in head:
        raise ValueError(f"{CLOSE} without {OPEN}")
    text += head
    for part in marked_parts:
        evidence, close, after = part.partition(CLOSE)
        if not close or CLOSE in after:
            raise ValueError(f"{OPEN} without {CLOSE}, or {CLOSE} without {OPEN}")
        rationales.append(Rationale(segment, len(text), len(text) + len(evidence)))
        text += evidence + after
    return text, rationales
