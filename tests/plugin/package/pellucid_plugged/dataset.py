"""Plugged things: twenty remarks about ten things, with the words that decide.

Doe (2030), "On Things".
"""

from pellucid.base.kinds import datasets
from pellucid.data.shared.part_files import split_of
from pellucid.data.shared.rows import unmark
from pellucid.text.example import Example

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
