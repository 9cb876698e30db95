"""Made-up attention analyses, for pages and figures."""

import math
from dataclasses import replace

from pellucid.attention.lines import verdict_of
from pellucid.attention.record import (
    AttentionAnalysis,
    AttentionLine,
    ModelAttention,
    UnitPlot,
)
from pellucid.results.table import Interval

WORDS = ("A", "gripping", ",", "lovely", "film", ".")


def sample_model(name="one", change=0.3, decides=0.8, words=WORDS, text="review-1", classes=("negative", "positive")):
    values = {"median_change": change, "heaviest_decides": decides}
    intervals = {test: Interval(value, value - 0.02, value + 0.02) for test, value in values.items()}
    lines = [
        AttentionLine(
            test,
            "",
            value,
            200,
            "higher",
            -1.0,
            1.0,
            idle=0.0,
            meaning=f"What {test} says.",
            deviation=math.nan,
        )
        for test, value in intervals.items()
    ]
    lines.append(AttentionLine("permuted", "", Interval(0.1, 0.05, 0.15), 200, "higher", -1.0, 1.0, deviation=0.01))
    chances = tuple((1 - place / len(words), place / len(words)) for place in range(len(words)))
    plot = UnitPlot(text, tuple(words), (1 / len(words),) * len(words), chances, (0.1, 0.9), classes)
    verdict = verdict_of(200, {test: (value, 150) for test, value in intervals.items()})
    accuracy = Interval(0.9, 0.85, 0.95)
    return ModelAttention(name, "hash", "words", 200, 3, accuracy, tuple(lines), verdict, (plot,))


def sample_attention(**settings):
    return AttentionAnalysis((sample_model(**settings), sample_model("two", 0.01, 0.1)), {"texts": 203}, ("A caveat.",))


def with_adversary(model):
    """The model with three points of an imitation adversary."""
    points = [
        AttentionLine(
            "imitation_adversary",
            part,
            Interval(value, math.nan, math.nan),
            200,
            "higher",
            0.0,
            1.0,
            along="divergence_weight",
            at=at,
        )
        for at in (0.0, 0.1, 1.0)
        for part, value in (("divergence of the weights", at / 2), ("distance of the answers", at / 4))
    ]
    return replace(model, lines=(*model.lines, *points))
