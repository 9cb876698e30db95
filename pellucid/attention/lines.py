"""From the records of texts to the lines, the verdict and the plots of a model."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pellucid.attention.folder import TestedModel
from pellucid.attention.question import AttentionQuestion
from pellucid.attention.record import AttentionLine, AttentionVerdict, ModelAttention, UnitPlot, VerdictEvidence
from pellucid.attention.weighed_texts import FEWEST, AttentionOutcome, outcome_of
from pellucid.base.catalogue import Call
from pellucid.results.bootstrap import bootstrap_interval
from pellucid.results.table import Interval

Record = Mapping[str, Any]


def model_attention(name: str, question: AttentionQuestion, tested: TestedModel) -> ModelAttention:
    """What the tests say of one model."""
    long = [record for record in tested.texts if record["units"] >= FEWEST]
    outcomes = {call.title: _outcome(call, long) for call in question.of_texts}
    lines = [_line(call, outcomes[call.title]) for call in question.of_texts]
    for call in question.of_corpus:
        lines += [_line_of_record(call, record) for record in tested.lines[call.title] if "left_out" not in record]
    right = np.array([math.nan if record["right"] is None else record["right"] for record in tested.texts])
    return ModelAttention(
        name,
        question.model.hash,
        tested.texts[0]["weighs"],
        len(long),
        len(tested.texts) - len(long),
        bootstrap_interval(right.astype(float)),
        tuple(lines),
        verdict_of(
            len(long),
            {
                call.entry.name: (outcome.value, outcome.n_texts)
                for call, outcome in zip(question.of_texts, outcomes.values(), strict=True)
            },
        ),
        tuple(_plot(record["plot"]) for record in tested.texts if record.get("plot", {"words": ()})["words"]),
    )


def _outcome(call: Call, records: Sequence[Record]) -> AttentionOutcome:
    values = [[math.nan if value is None else value for value in record["values"][call.title]] for record in records]
    return outcome_of(values, [record["units"] for record in records], str(call.entry.facts["average"]))


def _line(call: Call, outcome: AttentionOutcome) -> AttentionLine:
    return AttentionLine(
        part="",
        value=outcome.value,
        n=outcome.n_texts,
        deviation=outcome.deviation,
        left_out=outcome.unlabelled,
        **line_facts(call),
    )


def left_out(name: str, question: AttentionQuestion, tested: TestedModel) -> list[str]:
    """A sentence for each test of the whole corpus that could not run."""
    return [
        f"{call.entry.name} of {name} was left out: {record['left_out']}"
        for call in question.of_corpus
        for record in tested.lines[call.title]
        if "left_out" in record
    ]


def _line_of_record(call: Call, record: Record) -> AttentionLine:
    """A line that a test of the whole corpus made; None stands for nan."""
    bounds = (record["value"][name] for name in ("mean", "low", "high"))
    facts = line_facts(call) | ({"meaning": record["meaning"]} if record["meaning"] else {})
    if not record["directed"]:
        facts["better"] = ""
    return AttentionLine(
        part=record["part"],
        value=Interval(*(math.nan if bound is None else bound for bound in bounds)),
        n=record["n"],
        at=math.nan if record["at"] is None else record["at"],
        **facts,
    )


def line_facts(call: Call) -> dict[str, Any]:
    """The fields of a line that its test and settings say."""
    facts, entry = call.entry.facts, call.entry
    return {
        "test": call.title,
        "better": facts["better"],
        "lowest": float(facts["lowest"]),
        "highest": float(facts["highest"]),
        "idle": math.nan if facts["idle"] is None else float(facts["idle"]),
        "meaning": facts["meaning"] or entry.summary,
        "along": facts["along"],
        "settings": dict(call.settings),
    }


def _plot(record: Record) -> UnitPlot:
    return UnitPlot(
        record["text"],
        tuple(record["words"]),
        tuple(record["weights"]),
        tuple(map(tuple, record["probabilities"])),
        tuple(record["own"]),
        tuple(record["classes"]),
        tuple(record.get("unread", ())),
    )


# The verdict on a model's weights, and all of its thresholds, which were fixed before any study ran.
#
# Weights may be read as an explanation where two things are shown. The answer hangs on them: put them in other
# places, and it moves (`median_change`). And they lie on the words that the answer depends on: leave these out of the
# text, and it moves (`heaviest_decides`). The first alone would let a model pass whose states have carried the reason
# to other words, where the weights then lie (Pruthi et al. 2020); the second alone one whose states all say the same,
# so that any weights would do.
#
# All other tests are shown and do not decide. Lost right answers depend on how far most answers are from the border;
# that other weights with the same answer exist (`farthest_weights`, the adversary) is so for every model whose states
# are alike, and of one that mimics a model the mistakes are mimicked too; rankings of all words are mostly about
# words that matter little.

FEWEST_TEXTS = 100
"""On fewer texts there is no verdict: a share near a half then has an interval wider than 0.2."""

FEWEST_POINTED = 30
"""Texts whose answer moves without some word. Below, the normal theory of a mean's interval is not to be relied on."""

SAME_ANSWER = 0.05
"""An answer that moves by less is the same answer: ε of Jain & Wallace (2019), section 4.2.2. Irrelevant weights move
it by 0.
"""

OTHER_ANSWER = 0.10
"""Twice that: the median permutation moves the probability by a tenth. Between both the answer hangs on the weights a
little.
"""

POINTS = 0.5
"""Irrelevant weights give 0, weights that always lie on a word that decides nearly 1. Half way, the heaviest word
decides more often than not even where many words would.
"""

AT_CHANCE = 0.1
"""Weights this near to 0 point at what decides hardly more often than a random word does."""


def verdict_of(n_texts: int, outcomes: Mapping[str, tuple[Interval, int]]) -> AttentionVerdict:
    """n_texts: how many texts were tested. outcomes: test -> (value, texts that it judged)."""
    evidence = (_moves(outcomes.get("median_change")), _points(outcomes.get("heaviest_decides")))
    if n_texts < FEWEST_TEXTS:
        return AttentionVerdict("undecided", f"{n_texts:,} texts are too few; a verdict takes {FEWEST_TEXTS}", evidence)
    return AttentionVerdict(*_answer(*(test_evidence.reading for test_evidence in evidence)), evidence)


def _answer(moves: str, points: str) -> tuple[str, str]:
    """(answer, reason) of two readings."""
    if points == "against":
        return "may not", "the heaviest words are not those that the answer depends on"
    if moves == "against":
        if points == "for":
            return (
                "undecided",
                "the weights lie on the words that decide, but the answer does not hang on the weights",
            )
        return "may not", "the answer stays the same when the weights change places"
    if moves == points == "for":
        return "may", "the answer hangs on the weights, and the heaviest words are those that it depends on"
    unclear = [
        name
        for name, reading in (
            ("how far the answer hangs on the weights", moves),
            ("how often the heaviest words decide", points),
        )
        if reading != "for"
    ]
    return "undecided", f"{' and '.join(unclear)} cannot be said clearly enough"


def _moves(outcome: tuple[Interval, int] | None) -> VerdictEvidence:
    value, n = outcome or (Interval(*(float("nan"),) * 3), 0)
    bound = f"for: above {OTHER_ANSWER:.2f}; against: below {SAME_ANSWER:.2f}; irrelevant weights: 0"
    if not n:
        return VerdictEvidence(
            "median_change", value, bound, "unclear", "It was not tested whether the answer hangs on the weights."
        )
    if value.low >= OTHER_ANSWER:
        reading, sentence = "for", "The answer hangs on the weights: it moves when they change places."
    elif value.high < SAME_ANSWER:
        reading, sentence = "against", "The answer hardly moves when the weights change places."
    else:
        reading, sentence = "unclear", "The answer moves a little when the weights change places."
    return VerdictEvidence("median_change", value, bound, reading, sentence)


def _points(outcome: tuple[Interval, int] | None) -> VerdictEvidence:
    value, n = outcome or (Interval(*(float("nan"),) * 3), 0)
    bound = f"for: above {POINTS:.2f}; against: below {POINTS:.2f}; irrelevant weights: 0"
    if n < FEWEST_POINTED:
        sentence = (
            f"In {n:,} texts the answer moves without some single word; {FEWEST_POINTED} are needed to judge by them."
        )
        return VerdictEvidence("heaviest_decides", value, bound, "unclear", sentence)
    if value.low >= POINTS:
        reading, sentence = "for", "The heaviest word is mostly one that the answer depends on."
    elif value.high < POINTS:
        near = " hardly more often than a random word" if value.high < AT_CHANCE else ""
        reading, sentence = (
            "against",
            f"The heaviest word is mostly none that the answer depends on{',' + near if near else ''}.",
        )
    else:
        reading, sentence = ("unclear", "The heaviest word is about as often as not one that the answer depends on.")
    return VerdictEvidence("heaviest_decides", value, bound, reading, sentence)
