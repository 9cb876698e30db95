"""Planted token: generated texts in which one made-up word decides the label, so the true reason is known.

After Bastings et al. (2022), "Will You Find These Shortcuts?". Every text holds exactly one of two trigger
words among everyday words drawn at random; which one decides the label, and it is the text's rationale.
"""

import random

from pellucid.base.checks import one_of
from pellucid.base.kinds import datasets, reasons
from pellucid.data.planting.plant import CLASSES, Kit, planted
from pellucid.text.example import Example

TRIGGERS = ("blicket", "wug")
FILLERS = (  # everyday words of no attitude
    "the a this that and then with for from under over table window garden river train letter summer market "
    "bread music teacher doctor street bridge carries opens finds leaves paints builds reads slowly early often "
    "green small wooden old busy quiet before after near every two some"
).split()
SIZES = {"train": 1000, "dev": 200, "test": 200}


@datasets.add(task="planted", classes=CLASSES, rationales=True)
def planted_token(split: str) -> list[Example]:
    """1,000 train, 200 dev and 200 test texts of 8 to 16 words, half of them of each label."""
    one_of("split", split, (*SIZES, "all"))
    names = list(SIZES) if split == "all" else [split]
    return [example for name in names for example in _part(name)]


def _part(split: str) -> list[Example]:
    draw = random.Random(f"planted token {split}")
    kit = Kit(reasons.calls(["token"])[0], TRIGGERS)
    return [_example(kit, draw, bool(number % 2), f"{split}-{number}") for number in range(SIZES[split])]


def _example(kit: Kit, draw: random.Random, yes: bool, id: str) -> Example:
    words = draw.choices(FILLERS, k=draw.randint(7, 15))
    return planted(kit, Example((" ".join(words),), id=id), yes, draw, id=id)
