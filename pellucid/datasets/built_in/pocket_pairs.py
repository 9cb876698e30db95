"""Pocket pairs: premises and hypotheses written for this project, with the author's evidence on both sides.

Ours: entailment, neutral, contradiction; many premises carry several hypotheses with different labels.
"""

from pellucid.core.foundation.kinds import datasets
from pellucid.core.text.example import Example
from pellucid.datasets.built_in.pocket import rows, tags
from pellucid.datasets.shared.marked_text import unmark
from pellucid.datasets.shared.splits import split_of

PHENOMENA = {  # what the tags of a pair mean: what one must know to find its label
    "plain": "none of the others",
    "antonym": "words that mean the opposite, or two ends of a scale",
    "causality": "what causes what",
    "hypernym": "a kind and what belongs to it",
    "lexical_overlap": "the hypothesis repeats words of the premise, and that misleads",
    "location": "where something is",
    "negation": "something is denied",
    "number": "counting and reckoning",
    "paraphrase": "the same in other words",
    "presupposition": "what a text takes for granted, or only seems to",
    "quantifier": "all, some, most, none, only",
    "role_swap": "who does what to whom",
    "time": "when, how long, in which order",
    "world_knowledge": "what is not said but everybody knows",
}


def _example(id: str, fields: list[str]) -> Example:
    label, phenomena, group, premise, hypothesis = fields
    (first, marks), (second, more) = unmark(premise, 0), unmark(hypothesis, 1)
    return Example((first, second), label, (*marks, *more), id, tags(phenomena, group))


@datasets.add(task="inference", classes=("entailment", "neutral", "contradiction"), rationales=True)
def pocket_pairs(split: str) -> list[Example]:
    """The pairs of one part: "train", "dev", "test" or "all"."""
    return split_of([_example(id, fields) for id, fields in rows("pocket_pairs", 5)], split)
