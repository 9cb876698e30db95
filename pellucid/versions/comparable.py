"""Whether two sets of explanations answer the same question: one method with the same settings, targets, units and
classes.
"""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from pellucid.base.checks import clipped, listed, quoted
from pellucid.base.errors import BadInput
from pellucid.base.json_text import plain_json
from pellucid.results.explanation import Explanation
from pellucid.results.results import StoredExplanations
from pellucid.text.units import SPECIAL

# Which texts two sets of explanations have in common: by id and text, and where a text has got another id, by the
# text.

Pair = tuple[Explanation, Explanation]


@dataclass(frozen=True)
class Matches:
    """before, after [pair]: the places of each common text in two sets, in the order of the first. only_before,
    only_after: the places of the rest.
    """

    before: np.ndarray
    after: np.ndarray
    only_before: np.ndarray
    only_after: np.ndarray


def matched(before: Sequence[Explanation], after: Sequence[Explanation]) -> Matches:
    """The texts in common. A text that stands several times under one id counts once.

    Numbers of lines are ids too, and a new line in a file moves them all. So what no id and text match is matched by
    text alone. Memory holds 32 bytes a text.
    """
    keys = [_keys(before), _keys(after)]
    rest = [np.flatnonzero(_turns(named) == 0) for named, _ in keys]
    pairs = []
    for kind in (0, 1):
        places = _paired(*(keys[side][kind][rest[side]] for side in (0, 1)))
        pairs.append([rest[side][places[side]] for side in (0, 1)])
        rest = [np.delete(rest[side], places[side]) for side in (0, 1)]
    first, second = (np.concatenate([of_kind[side] for of_kind in pairs]) for side in (0, 1))
    order = np.argsort(first)
    return Matches(first[order], second[order], *rest)


def _keys(explanations: Sequence[Explanation]) -> tuple[np.ndarray, np.ndarray]:
    """(of id and text, of the text alone), each [text 2], the halves of digests."""
    named, bare = bytearray(), bytearray()
    texts = explanations.texts if isinstance(explanations, StoredExplanations) else None
    for example in (explanation.example for explanation in explanations) if texts is None else texts:
        digest = blake2b(_bytes_of(example.segments), digest_size=16)
        bare += digest.digest()
        digest.update(_bytes_of(example.id))
        named += digest.digest()
    return tuple(np.frombuffer(digests, dtype=np.uint64).reshape(-1, 2) for digests in (named, bare))  # type: ignore[return-value]  # there are two


def _bytes_of(value: object) -> bytes:
    return plain_json(value).encode("utf-8", "surrogatepass")


def _turns(keys: np.ndarray) -> np.ndarray:
    """[text 2] -> [text]: how many texts before it have its key."""
    order = np.lexsort((keys[:, 1], keys[:, 0]))  # equal keys stay in order
    begins = np.ones(len(keys), dtype=bool)
    begins[1:] = (keys[order[1:]] != keys[order[:-1]]).any(1)
    numbers, turns = np.arange(len(keys)), np.empty(len(keys), dtype=np.int64)
    turns[order] = numbers - np.maximum.accumulate(np.where(begins, numbers, 0))
    return turns


def _paired(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The indices of equal keys, the first of a key with the first on the other side, and so on."""
    keys, turns = np.concatenate([before, after]), np.concatenate([_turns(before), _turns(after)])
    order = np.lexsort((np.arange(len(keys)), turns, keys[:, 1], keys[:, 0]))
    same = (keys[order[1:]] == keys[order[:-1]]).all(1) & (turns[order[1:]] == turns[order[:-1]])
    at = np.flatnonzero(same)  # a key with its turn stands once on each side at most
    return order[at], order[at + 1] - len(before)


def check_settings(sides: Sequence[tuple[str, Sequence[Explanation]]]) -> None:
    """Raise `BadInput` where the explanations were not all made with the same settings; sides: (name, explanations)."""
    name, first = sides[0][0], sides[0][1][0]
    for other_name, every in sides:
        explanations = every[:1] if isinstance(every, StoredExplanations) else every  # a run has one question
        differing = next(
            (explanation for explanation in explanations if _plain(explanation.settings) != _plain(first.settings)),
            None,
        )
        if differing is not None:
            raise BadInput(
                f"{first.method} ran with {_differing(first, differing)} in {name} and with "
                f"{_differing(differing, first)} in {other_name}; explain both with the same settings."
            )


def check_common(matches: Matches, names: tuple[str, str]) -> None:
    """Raise `BadInput` where two sets, with these names, have no text in common."""
    if not len(matches.before):
        raise BadInput(
            f"{names[0]} and {names[1]} have no text in common; explain the same texts with both models, for example "
            f"one file of data."
        )


def check_pair(pair: Pair, names: tuple[str, str]) -> None:
    """Raise `BadInput` for explanations of a text that cannot be compared."""
    before, after = pair
    _check_target(before, after, names)
    if unit_of(before) != unit_of(after):
        raise BadInput(
            f"{names[0]} has scores a {unit_of(before)}, {names[1]} scores a {unit_of(after)} (text "
            f"{quoted(before.example.id)}); explain both by the same unit."
        )


def is_same_target(before: Explanation, after: Explanation) -> bool:
    """Whether both explanations are of one class, or one contrast; else their scores cannot be compared."""
    first, second = before.target, after.target
    return (first.label, first.against, first.output) == (second.label, second.against, second.output)


def _check_target(before: Explanation, after: Explanation, names: tuple[str, str]) -> None:
    """Equal targets are fine, and so is each version's own answer."""
    by_answer = all(
        explanation.target.label == explanation.prediction.label and not explanation.target.against
        for explanation in (before, after)
    )
    if is_same_target(before, after) or (by_answer and before.target.output == after.target.output):
        return
    raise BadInput(
        f"{names[0]} explains the {before.target}, {names[1]} the {after.target} (text {quoted(before.example.id)}); "
        f"give results of one target: each model's own answer, or the same class and output for both."
    )


def check_classes(pair: Pair, names: tuple[str, str]) -> None:
    """Raise `BadInput` where the models of a pair have no class in common."""
    classes_before, classes_after = (explanation.prediction.labels for explanation in pair)
    if not set(classes_before) & set(classes_after):
        raise BadInput(
            f"The model of {names[0]} has the classes {listed(classes_before)}, that of {names[1]} "
            f"{listed(classes_after)}; give two versions with at least one class in common."
        )


def _plain(settings: Mapping[str, object]) -> str:
    """Settings as a file keeps them, where tuples are lists."""
    return json.dumps(dict(settings), sort_keys=True, default=str)


def _differing(this_side: Explanation, other_side: Explanation) -> str:
    """The settings that differ, as this side has them."""
    every = {**this_side.settings, **other_side.settings}
    names = [name for name in every if _value(this_side, name) != _value(other_side, name)]
    return clipped(", ".join(f"{name}={this_side.settings.get(name)}" for name in names))


def _value(explanation: Explanation, name: str) -> str:
    return _plain({name: explanation.settings[name]} if name in explanation.settings else {})


# The words that two explanations of one text share, with both scores of each.
#
# Tokenizers of two versions may cut a text differently, so that one joins what is two words for the other. What one
# of them joins is one word here, with the sum of the scores; sums stay the same.

LARGER = ("sentence", "paragraph")  # units that cannot be cut into words
Range = tuple[int, int, int]  # segment, first character, the one after the last


@dataclass(frozen=True)
class CommonWords:
    """words [word] in reading order; before, after [word]: their scores in both explanations."""

    words: tuple[str, ...]
    before: np.ndarray
    after: np.ndarray


def common_words(before: Explanation, after: Explanation) -> CommonWords:
    """The words of a text with both scores; of scores with several rows, the row that reports show."""
    first, second = _at_words(before), _at_words(after)
    ranges = _joined([*_ranges(first), *_ranges(second)])
    texts = before.example.segments
    words = tuple(texts[segment][start:end] for segment, start, end in ranges)
    return CommonWords(words, _summed(first, ranges), _summed(second, ranges))


def unit_of(explanation: Explanation) -> str:
    """What the words of an explanation are: word, or a larger unit that cannot be cut into words."""
    return explanation.units.kind if explanation.units.kind in LARGER else "word"


def _at_words(explanation: Explanation) -> Explanation:
    row = explanation.shown_row()
    return row if unit_of(row) != "word" else row.view("word")


def _ranges(explanation: Explanation) -> list[Range]:
    """The offsets of the units that are text."""
    units = explanation.units
    return [(units.segment[unit], units.start[unit], units.end[unit]) for unit in units.content]  # type: ignore[union-attr]  # spans were shared among words


def _joined(ranges: list[Range]) -> list[Range]:
    """The ranges in reading order, those that share a character as one."""
    joined: list[Range] = []
    for segment, start, end in sorted(set(ranges)):
        if joined and joined[-1][0] == segment and start < joined[-1][2]:
            joined[-1] = (segment, joined[-1][1], max(joined[-1][2], end))
        else:
            joined.append((segment, start, end))
    return joined


def _summed(explanation: Explanation, ranges: list[Range]) -> np.ndarray:
    """[range]: the sum of the scores of the units inside each."""
    starts = [(segment, start) for segment, start, _ in ranges]
    sums, units = np.zeros(len(ranges)), explanation.units
    for unit, score in enumerate(explanation.scores):
        if units.segment[unit] != SPECIAL:  # type: ignore[union-attr]  # see `_ranges`
            index = bisect_right(starts, (units.segment[unit], units.start[unit])) - 1  # type: ignore[union-attr]
            sums[index] += float(score)
    return sums
