"""Pocket pairs: premises and hypotheses written for this project, with the author's evidence on both sides.

Ours: entailment, neutral, contradiction; many premises carry several hypotheses with different labels.
"""

from pellucid.core.example import Example
from pellucid.core.kinds import datasets
from pellucid.datasets.marked_text import unmark
from pellucid.datasets.pocket import rows
from pellucid.datasets.splits import split_of


def _example(id: str, fields: list[str]) -> Example:
    label, phenomena, group, premise, hypothesis = fields
    (first, marks), (second, more) = unmark(premise, 0), unmark(hypothesis, 1)
    meta = {"phenomena": [name.strip() for name in phenomena.split(",")]} | (
        {} if group == "-" else {"group": group}
    )
    return Example((first, second), label, (*marks, *more), id, meta)


@datasets.add(task="inference", classes=("entailment", "neutral", "contradiction"), rationales=True)
def pocket_pairs(split: str) -> list[Example]:
    """The pairs of one part: "train", "dev", "test" or "all"."""
    return split_of([_example(id, fields) for id, fields in rows("pocket_pairs", 5)], split)
