"""e-SNLI: the pairs of SNLI, with asterisks around the words that annotators marked as the reason.

Camburu et al. (2018), "e-SNLI: Natural Language Inference with Natural Language Explanations".
"""

from collections.abc import Iterator
from functools import partial
from pathlib import Path

from pellucid.base.checks import one_of
from pellucid.base.kinds import formats
from pellucid.data.formats.snli import LABELS, NO_AGREEMENT
from pellucid.data.shared.delimited import comma_records, named, needs, with_header
from pellucid.data.shared.marked_text import AGREEMENTS, agreed_rationales
from pellucid.data.shared.part_files import part_files
from pellucid.data.shared.rows import ReadRow, label_of, read_rows
from pellucid.text.example import ANNOTATORS, Example, Rationale, annotators_record

FILES = {
    "train": ("esnli_train.csv", "esnli_train_*.csv"),  # the original comes in two pieces
    "dev": ("esnli_dev.csv",),
    "test": ("esnli_test.csv",),
}
NEEDED = ("pairID", "gold_label", "Sentence1", "Sentence2", "Sentence1_marked_1", "Sentence2_marked_1")


@formats.add(
    reads="esnli_train_1.csv and _2, esnli_dev.csv, esnli_test.csv",
    data="inference on pairs",
    rationales=True,
)
def e_snli(path: Path, split: str, *, agreement: str = "union") -> Iterator[ReadRow]:
    """Pairs of e-SNLI with the words that annotators marked: one annotator in train, three in dev and test.

    agreement: "union" takes what any annotator marked, "majority" what more than half of them marked. What each of them marked is
    in meta["annotators"], where there are several.
    """
    one_of("agreement", agreement, AGREEMENTS)
    for file in part_files(path, split, FILES):
        columns, records = with_header(file, comma_records(file))
        needs(file, columns, NEEDED)
        yield from read_rows(file, records, partial(_example, columns=columns, agreement=agreement))


def _example(fields: list[str], _: int, *, columns: list[str], agreement: str) -> list[Example]:
    row = named(columns, fields)
    if row["gold_label"] == NO_AGREEMENT:
        return []
    texts = (row["Sentence1"], row["Sentence2"])
    marks: list[Rationale] = []
    annotators: dict[int, list[Rationale]] = {}
    for segment, text in enumerate(texts):
        versions = {person: row.get(f"Sentence{segment + 1}_marked_{person}", "") for person in (1, 2, 3)}
        votes = {person: marked_characters(text, one) for person, one in versions.items() if one.strip()}
        marks += agreed_rationales(text, list(votes.values()), agreement, segment)
        for person, one in votes.items():
            annotators.setdefault(person, []).extend(agreed_rationales(text, [one], "union", segment))
    reasons = [row.get(f"Explanation_{person}", "") for person in (1, 2, 3)]
    meta: dict[str, object] = {"explanations": [reason for reason in reasons if reason]}
    if len(annotators) > 1:
        meta[ANNOTATORS] = annotators_record(list(annotators.values()))
    return [Example(texts, label_of(row["gold_label"], LABELS), tuple(marks), row["pairID"], meta)]


def marked_characters(text: str, marked: str) -> list[bool]:
    """For each character of a text, whether it stands between asterisks in its marked version.

    Blanks may differ between the two; raises `ValueError` where anything else does.
    """
    is_marked, position, inside = [False] * len(text), 0, False
    for character in marked:
        while position < len(text) and text[position].isspace() and not character.isspace():
            position += 1
        if position < len(text) and character == text[position]:
            is_marked[position] = inside
            position += 1
        elif character == "*":
            inside = not inside
        elif not character.isspace():
            raise ValueError(f"the marked sentence {marked!r} has other words than {text!r}")
    if text[position:].strip():
        raise ValueError(f"the marked sentence {marked!r} is shorter than {text!r}")
    return is_marked
