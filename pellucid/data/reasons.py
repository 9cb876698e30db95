"""Reasons that are planted in texts, so that the words that decide a label are known; a function each."""

import re
from collections.abc import Sequence
from random import Random
from typing import NamedTuple

from pellucid.base.checks import between
from pellucid.base.errors import BadInput, BadSetting
from pellucid.base.kinds import reasons
from pellucid.text.example import Rationale

# The gaps between the words of a text, and made-up words inserted there; the rest of the text does not change.

_BETWEEN_BLANKS = re.compile(r"\S+")


class Gap(NamedTuple):
    """The gap before a word of a text, by the word's number, or after its last word; blanks separate words.

    Gaps sort in reading order.
    """

    segment: int
    before: int


class Insertion(NamedTuple):
    """Made-up words, with blanks between them, in a gap; causes: whether they are part of the reason."""

    gap: Gap
    words: str
    causes: bool = True


class Planting(NamedTuple):
    """What a reason inserts for a text's label; edited: the same after the smallest edit that changes the label."""

    insertions: Sequence[Insertion]
    edited: Sequence[Insertion]


def gaps_in(segments: Sequence[str]) -> list[Gap]:
    """All gaps of one text or a pair, in reading order."""
    return [
        Gap(segment, index)
        for segment, text in enumerate(segments)
        for index in range(len(_BETWEEN_BLANKS.findall(text)) + 1)
    ]


def draw_gaps(gaps: Sequence[Gap], count: int, draw: Random) -> list[Gap]:
    """`count` different gaps drawn at random, in reading order; raises `BadInput` where there are too few."""
    if len(gaps) < count:
        raise BadInput(f"{len(gaps)} places for words are too few, {count} are needed; leave such texts out.")
    return sorted(draw.sample(gaps, count))


def insert_words(segments: Sequence[str], insertions: Sequence[Insertion]) -> tuple[str, ...]:
    """The texts with the words inserted, one blank between words; insertions in one gap keep their order."""
    return tuple(
        _filled(text, [insertion for insertion in insertions if insertion.gap.segment == segment])
        for segment, text in enumerate(segments)
    )


def _filled(text: str, insertions: Sequence[Insertion]) -> str:
    spans = [match.span() for match in _BETWEEN_BLANKS.finditer(text)]
    indices = {insertion.gap.before for insertion in insertions}
    for index in sorted(indices, reverse=True):  # from the end, so that earlier offsets stay valid
        words = " ".join(insertion.words for insertion in insertions if insertion.gap.before == index)
        if index < len(spans):
            start = spans[index][0]
            text = f"{text[:start]}{words} {text[start:]}"
        else:
            end = spans[-1][1]
            text = f"{text[:end]} {words}{text[end:]}"
    return text


def occurrences(segments: Sequence[str], words: Sequence[str]) -> tuple[Rationale, ...]:
    """Every place where these words stand between blanks; made-up words stand only where they were inserted."""
    if not words:
        return ()
    wanted = re.compile(rf"(?<!\S)(?:{'|'.join(map(re.escape, words))})(?!\S)")
    return tuple(
        Rationale(segment, *match.span()) for segment, text in enumerate(segments) for match in wanted.finditer(text)
    )


@reasons.add(words=2)
def token(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """One of two words: the second one for yes.

    Which of two made-up words stands in the text decides its label.

    Source: Bastings et al. (2022), "Will You Find These Shortcuts?", section 3.
    """
    gap = draw.choice(gaps)
    return Planting([Insertion(gap, words[yes])], [Insertion(gap, words[not yes])])


@reasons.add(words=4)
def token_pair(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """One of the first two words and one of the last two: first with third, or second with fourth, for yes; else no.

    Two made-up words decide together, and neither says anything alone.

    Source: An exclusive or, which no sum over single words can compute. Every text holds one of the
    first two words and one of the last two; each of the four is as frequent under either label.
    """
    index = draw.randrange(2)
    partner = index if yes else 1 - index
    here, there = draw.choice(gaps), draw.choice(gaps)
    first, second = Insertion(here, words[index]), Insertion(there, words[2 + partner])
    if draw.randrange(2):  # either word may be the one that an edit replaces
        return Planting([first, second], [Insertion(here, words[1 - index]), second])
    return Planting([first, second], [first, Insertion(there, words[3 - partner])])


@reasons.add(words=1)
def position(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """One word: in the first third of the text for yes, in its last third for no.

    The same made-up word stands in every text, and where it stands decides.

    Source: A text's label is "yes" if at most a third of its other words come before the made-up one,
    "no" if at most a third come after it. Words are what blanks separate; of a pair, the text that
    holds the made-up word is counted.
    """
    segment = draw.choice(gaps).segment
    count = sum(gap.segment == segment for gap in gaps) - 1  # of words in this text
    index = draw.randint(0, count // 3)
    early, late = (
        [Insertion(Gap(segment, index), words[0])],
        [Insertion(Gap(segment, count - index), words[0])],
    )
    return Planting(early, late) if yes else Planting(late, early)


@reasons.add(words=2)
def order(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """Two words: the first before the second for yes, after it for no.

    The same two made-up words stand in every text, and which comes first decides.

    Source: Bastings et al. (2022), "Will You Find These Shortcuts?", section 3 ("ordered pair").
    """
    first, second = sorted(draw.choices(gaps, k=2))
    forth = [Insertion(first, words[0]), Insertion(second, words[1])]
    back = [Insertion(first, words[1]), Insertion(second, words[0])]
    return Planting(forth, back) if yes else Planting(back, forth)


@reasons.add(words=3)
def span(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random) -> Planting:
    """Three words in a fixed order: side by side for yes, apart for no.

    The same three made-up words stand in every text, and whether they stand together decides.

    Source: Neither a word nor the order says anything; only whether the three stand side by side does.
    """
    apart_gaps = draw_gaps(gaps, len(words), draw)
    apart = [Insertion(gap, word) for gap, word in zip(apart_gaps, words, strict=True)]
    # Together they stand where one of them stands apart, so that two words move.
    together = [Insertion(draw.choice(apart_gaps), " ".join(words))]
    return Planting(together, apart) if yes else Planting(apart, together)


@reasons.add(words=40)
def lexicon(gaps: Sequence[Gap], words: Sequence[str], yes: bool, draw: Random, *, per_text: int = 3) -> Planting:
    """Words of two lists of twenty: more of the second list for yes, more of the first for no.

    Each label has a list of made-up words, and the list with more words in the text decides.

    Source: A sentiment lexicon works like this. Single words can speak against the label.

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
    where = draw.choices(gaps, k=per_text)
    drawn = mine + theirs[for_it:]
    edited = mine[:few] + theirs[few:]  # replaces as few words as change the majority
    return Planting(_insertions(where, drawn, lists[yes]), _insertions(where, edited, lists[not yes]))


def _insertions(where: Sequence[Gap], words: Sequence[str], causing: Sequence[str]) -> list[Insertion]:
    return [Insertion(gap, word, word in causing) for gap, word in zip(where, words, strict=True)]
