"""Plugged things: twenty remarks about ten things, with the words that decide.

Doe (2030), "On Things".
"""

from pellucid.core.foundation.kinds import datasets
from pellucid.core.text.example import Example
from pellucid.datasets.shared.marked_text import unmark
from pellucid.datasets.shared.splits import split_of

THINGS = "kettle lamp chair knife radio fork clock towel shelf mug".split()
REMARKS = {"positive": "This {} is [[a joy to use]].", "negative": "This {} [[broke in a week]]."}


@datasets.add(task="sentiment", classes=("negative", "positive"), rationales=True)
def plugged_things(split: str) -> list[Example]:
    """The remarks of one part: "train", "dev", "test" or "all"."""
    examples = []
    for thing in THINGS:
        for label, remark in REMARKS.items():
            text, marks = unmark(remark.format(thing))
            examples.append(Example((text,), label, tuple(marks), f"{thing}-{label}", {"group": thing}))
    return split_of(examples, split)
