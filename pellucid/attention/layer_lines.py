"""From the records of texts to the lines and the verdict of a transformer whose weights were set layer by layer."""

import math
from collections.abc import Mapping, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

from pellucid.attention.attended_texts import LEAST, RANDOM, READINGS
from pellucid.attention.folder import TestedModel
from pellucid.attention.layer_question import TransformerQuestion
from pellucid.attention.lines import (
    AT_CHANCE,
    FEWEST_POINTED,
    FEWEST_TEXTS,
    OTHER_ANSWER,
    POINTS,
    SAME_ANSWER,
    line_facts,
)
from pellucid.attention.record import AttentionLine, AttentionVerdict, ModelAttention, VerdictEvidence
from pellucid.attention.weighed_texts import FEWEST, AttentionOutcome, outcome_of
from pellucid.base.catalogue import Call
from pellucid.base.checks import listed
from pellucid.results.bootstrap import bootstrap_interval
from pellucid.results.table import Interval

UNDIRECTED = ("random order", "random words")  # lines that others are compared with
Outcomes = Mapping[tuple[str, str], tuple[Interval, int]]  # (test, line) -> value, and the texts that it judged
NOTHING = (Interval(math.nan, math.nan, math.nan), 0)


def layer_attention(name: str, question: TransformerQuestion, tested: TestedModel) -> ModelAttention:
    """What the tests say of one transformer."""
    long = [record for record in tested.texts if record["units"] >= FEWEST]
    parts = [(call, part) for call in question.calls for part in (long[0]["values"][call.title] if long else ())]
    outcomes = [(call, part, _outcome(call, part, long)) for call, part in parts]
    right = np.array([math.nan if record["right"] is None else record["right"] for record in tested.texts])
    return ModelAttention(
        name,
        question.model.hash,
        tested.texts[0]["weighs"],
        len(long),
        len(tested.texts) - len(long),
        bootstrap_interval(right.astype(float)),
        tuple(_line(call, part, outcome) for call, part, outcome in outcomes),
        layer_verdict(
            len(long), {(call.entry.name, part): (outcome.value, outcome.n_texts) for call, part, outcome in outcomes}
        ),
    )


def _outcome(call: Call, part: str, records: Sequence[Mapping[str, Any]]) -> AttentionOutcome:
    draws = [record["values"][call.title][part] for record in records]
    values = [[math.nan if value is None else value for value in of_text] for of_text in draws]
    return outcome_of(values, [record["units"] for record in records], str(call.entry.facts["average"]))


def _line(call: Call, part: str, outcome: AttentionOutcome) -> AttentionLine:
    """Lines of single layers are points along the layers."""
    layer = part.removeprefix("layer ").partition(",")[0] if part.startswith("layer ") else ""
    facts = line_facts(call) | ({"along": "layer", "at": float(layer)} if layer else {})
    facts |= {"better": ""} if part in UNDIRECTED else {}
    facts |= {"idle": 0.0} if part.endswith((RANDOM, LEAST)) else {}
    return AttentionLine(
        part=part,
        value=outcome.value,
        n=outcome.n_texts,
        deviation=outcome.deviation,
        left_out=outcome.unlabelled,
        **facts,
    )


# The verdict on a transformer's attention. Its lines are those of `lines.py`, which were fixed before any study ran.
#
# Attention may be read as an explanation where two things are shown. The answer hangs on which words have the weight:
# let the weights of the words change places in all layers, special tokens keeping theirs, and it moves. And the words
# that a reading names are those that the answer depends on: the heaviest is one without which it moves, and hiding the
# first ones moves it farther than hiding random ones. There are several readings of the weights of many layers and
# heads, and each is judged; their intervals are widened, so that all hold together (Bonferroni). Where some readings
# pass, attention may be read as these alone.
#
# That an answer moves when one layer's weights are equal, and that attention ranks all words as a gradient does, is
# shown and does not decide, for the reasons that `lines.py` gives.

WIDER = NormalDist().inv_cdf(1 - 0.025 / len(READINGS)) / NormalDist().inv_cdf(0.975)
"""Of a 95 % interval, for all readings together."""
TOGETHER = f"interval for {len(READINGS)} readings together"


def layer_verdict(n_texts: int, outcomes: Outcomes) -> AttentionVerdict:
    """n_texts: how many texts were tested. outcomes: of all lines."""
    moves = _moves(*outcomes.get(("layers_permuted", "all layers, words alone"), NOTHING))
    by_reading = {
        name: (
            _points(name, *outcomes.get(("heaviest_decides", name), NOTHING)),
            _hides(name, *outcomes.get(("words_hidden", f"{name}, {RANDOM}"), NOTHING)),
        )
        for name in READINGS
    }
    evidence = (moves, *(test for tests in by_reading.values() for test in tests))
    if n_texts < FEWEST_TEXTS:
        return AttentionVerdict("undecided", f"{n_texts:,} texts are too few; a verdict takes {FEWEST_TEXTS}", evidence)
    readings = {name: _together([test.reading for test in tests]) for name, tests in by_reading.items()}
    return AttentionVerdict(*_answer(moves.reading, readings), evidence)


def _together(readings: Sequence[str]) -> str:
    if "against" in readings:
        return "against"
    return "for" if set(readings) == {"for"} else "unclear"


def _answer(moves: str, readings: Mapping[str, str]) -> tuple[str, str]:
    """(answer, reason) of what moves the answer, and of each reading."""
    passed = [name for name, reading in readings.items() if reading == "for"]
    if set(readings.values()) == {"against"}:
        return "may not", f"by no reading ({listed(readings)}) are the heaviest words those that the answer depends on"
    if moves == "against":
        if not passed:
            return "may not", "the answer stays the same when the weights of the words change places in all layers"
        lie = f"the weights lie on the words that decide, read as {' or '.join(passed)}"
        return "undecided", f"{lie}, but the answer does not hang on which words have the weight"
    if moves == "for" and len(passed) == len(readings):
        by = f"by every reading ({listed(readings)}) the heaviest words are those that it depends on"
        return "may", f"the answer hangs on which words have the weight, and {by}"
    if moves == "for" and passed:
        rest = listed([name for name in readings if name not in passed])
        return (
            "only as",
            f"{' or '.join(passed)}, whose heaviest words decide; of {rest} this is not so, or not clearly",
        )
    if passed:
        return "undecided", "how far the answer hangs on which words have the weight cannot be said clearly enough"
    return "undecided", "whether the heaviest words are those that decide cannot be said clearly enough by any reading"


def _moves(value: Interval, n: int) -> VerdictEvidence:
    bound = f"for: above {OTHER_ANSWER:.2f}; against: below {SAME_ANSWER:.2f}; irrelevant weights: 0"
    when = "when the weights of the words change places in all layers"
    if not n:
        reading, sentence = "unclear", "It was not tested whether the answer hangs on which words have the weight."
    elif value.low >= OTHER_ANSWER:
        reading, sentence = "for", f"The answer moves {when}."
    elif value.high < SAME_ANSWER:
        reading, sentence = "against", f"The answer hardly moves {when}."
    else:
        reading, sentence = "unclear", f"The answer moves a little {when}."
    return VerdictEvidence("layers_permuted, words alone", value, bound, reading, sentence)


def _points(name: str, value: Interval, n: int) -> VerdictEvidence:
    value = _widened(value)
    bound = f"for: above {POINTS:.2f}; against: below {POINTS:.2f}; irrelevant weights: 0; {TOGETHER}"
    if n < FEWEST_POINTED:
        few = f"In {n:,} texts the answer moves without some single word; {FEWEST_POINTED} are needed to judge by them."
        reading, sentence = "unclear", few
    elif value.low >= POINTS:
        reading, sentence = "for", "The heaviest word is mostly one that the answer depends on."
    elif value.high < POINTS:
        near = ", hardly more often than a random word" if value.high < AT_CHANCE else ""
        reading, sentence = "against", f"The heaviest word is mostly none that the answer depends on{near}."
    else:
        reading, sentence = "unclear", "The heaviest word is about as often as not one that the answer depends on."
    return VerdictEvidence(f"heaviest_decides, {name}", value, bound, reading, sentence)


def _hides(name: str, value: Interval, n: int) -> VerdictEvidence:
    value = _widened(value)
    bound = f"for: above 0; against: below 0; irrelevant weights: 0; {TOGETHER}"
    if not n:
        reading, sentence = "unclear", "It was not tested whether hiding the heaviest words moves the answer."
    elif value.low > 0:
        reading, sentence = "for", "Hiding the heaviest words moves the answer farther than hiding random ones."
    elif value.high < 0:
        reading, sentence = "against", "Hiding the heaviest words moves the answer less than hiding random ones."
    else:
        reading, sentence = "unclear", "Hiding the heaviest words moves the answer about as far as hiding random ones."
    return VerdictEvidence(f"words_hidden, {name}, {RANDOM}", value, bound, reading, sentence)


def _widened(value: Interval) -> Interval:
    low, high = (value.mean + WIDER * (bound - value.mean) for bound in (value.low, value.high))
    return Interval(value.mean, low, high)
