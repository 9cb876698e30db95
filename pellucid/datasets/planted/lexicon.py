"""Lexicon: each label has a list of made-up words, and the list with more words in the text decides.

As a sentiment lexicon would, with single words that can speak against the label.
"""

from collections.abc import Sequence
from random import Random

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import reasons
from pellucid.datasets.planting.places import Place, Planting, Put


@reasons.add(words=40)
def lexicon(
    places: Sequence[Place], words: Sequence[str], yes: bool, draw: Random, *, per_text: int = 3
) -> Planting:
    """Some words of two lists of twenty: more of the second list for yes, more of the first for no.

    per_text: how many words of both lists a text holds; odd, so that one list always has more.
    """
    half = len(words) // 2
    between("per_text", per_text, 1, half)
    if per_text % 2 == 0:
        raise BadSetting(f"per_text={per_text} is even, so the lists could be level; give an odd number.")
    lists = {False: list(words[:half]), True: list(words[half:])}
    few = per_text // 2  # the most words that the weaker list can have
    for_it = draw.randint(few + 1, per_text)
    mine, theirs = draw.sample(lists[yes], for_it), draw.sample(lists[not yes], per_text)
    where = draw.choices(places, k=per_text)
    now = mine + theirs[for_it:]
    edited = mine[:few] + theirs[few:]  # as few words replaced as turn the majority
    return Planting(_put(where, now, lists[yes]), _put(where, edited, lists[not yes]))


def _put(where: Sequence[Place], words: Sequence[str], causing: Sequence[str]) -> list[Put]:
    return [Put(place, word, word in causing) for place, word in zip(where, words, strict=True)]
