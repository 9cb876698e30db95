"""One rationale from several annotators: what anyone marked, or what most of them marked."""

from collections.abc import Sequence

from pellucid.core.foundation.checks import one_of
from pellucid.core.text.example import Rationale

AGREEMENTS = ("union", "majority")


def agreed_rationales(
    text: str, marked: Sequence[Sequence[bool]], agreement: str, segment: int = 0
) -> list[Rationale]:
    """The parts of a text that enough annotators marked.

    marked: for each annotator, whether each character is marked. agreement: "union" needs one annotator, "majority"
    more than half of them. Marked parts with only blanks between them are joined.
    """
    one_of("agreement", agreement, AGREEMENTS)
    enough = 1 if agreement == "union" else len(marked) // 2 + 1
    rationales: list[Rationale] = []
    for position, votes in enumerate(map(sum, zip(*marked, strict=True))):
        if votes < enough or text[position].isspace():
            continue
        if rationales and not text[rationales[-1].end : position].strip():
            rationales[-1] = Rationale(segment, rationales[-1].start, position + 1)
        else:
            rationales.append(Rationale(segment, position, position + 1))
    return rationales
