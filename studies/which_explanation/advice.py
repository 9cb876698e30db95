"""Whether what the trust card advises for one training holds for another training of the same model."""

from collections.abc import Sequence
from itertools import permutations

from studies.shared.units import Numbers


def advice_rows(units: Sequence[Numbers]) -> list[Numbers]:
    """For each ordered pair of seeds of one setting: the first method that one seed's card recommends, and what the
    other says of it.

    outcome: "recommended", "faithful", "unclear" or "avoid" on the other seed; "nothing advised" where no method was
    recommended.
    """
    rows = []
    for setting in dict.fromkeys(unit["setting"] for unit in units):
        own = [unit for unit in units if unit["setting"] == setting]
        for one, other in permutations(own, 2):
            first = next(iter(one["card"]["use"]), "")
            rows.append(
                {
                    "setting": setting,
                    "seed": one["seed"],
                    "on": other["seed"],
                    "method": first,
                    "outcome": outcome(first, other["card"]),
                }
            )
    return rows


def outcome(method: str, card: Numbers) -> str:
    """What a card says of a method."""
    if not method:
        return "nothing advised"
    points = (("recommended", "use"), ("faithful", "faithful"), ("avoid", "avoid"))
    return next((words for words, kind in points if method in card[kind]), "unclear")


def advice_in_words(rows: Sequence[Numbers]) -> str:
    """How often the advice held, in a sentence."""
    if not rows:
        return "One seed was judged, so advice could not be tried on another."
    advised = [row for row in rows if row["method"]]
    if not advised:
        return "No card recommended a method."
    counts = {
        words: sum(row["outcome"] == words for row in advised)
        for words in ("recommended", "faithful", "unclear", "avoid")
    }
    silent = len(rows) - len(advised)
    without = f" In {silent} of {len(rows)} pairs of seeds nothing was advised." if silent else ""
    return (
        f"The first method that one seed's card recommends is recommended on the other seed in {counts['recommended']} "
        f"of {len(advised)} pairs, called faithful in {counts['faithful']} more, not told apart in "
        f"{counts['unclear']}, and to be avoided in {counts['avoid']}.{without}"
    )
