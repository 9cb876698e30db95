"""One rationale from several annotators: what anyone marked, or what most of them marked."""

from collections.abc import Sequence

from pellucid.core.foundation.checks import one_of
from pellucid.core.text.example import Rationale

AGREEMENTS = ("union", "majority")


def agreed(text: str, marked: Sequence[Sequence[bool]], agreement: str, segment: int = 0) -> list[Rationale]:
    """The stretches of a text that enough annotators marked; marked: for each, one truth a character.

    "union" asks for one annotator, "majority" for more than half. Stretches with only blanks between them are one.
    """
    one_of("agreement", agreement, AGREEMENTS)
    enough = 1 if agreement == "union" else len(marked) // 2 + 1
    rationales: list[Rationale] = []
    for place, votes in enumerate(map(sum, zip(*marked, strict=True))):
        if votes < enough or text[place].isspace():
            continue
        if rationales and not text[rationales[-1].end : place].strip():
            rationales[-1] = Rationale(segment, rationales[-1].start, place + 1)
        else:
            rationales.append(Rationale(segment, place, place + 1))
    return rationales
