"""An attention analysis in a terminal: the verdict with its evidence, then a line a test."""

import math

from pellucid.attention.page import curve_points
from pellucid.attention.record import AttentionAnalysis, ModelAttention
from pellucid.attention.wording import (
    counts_in_words,
    evidence_in_words,
    line_name,
    ordered_lines,
    summary_in_words,
    value_in_words,
    verdict_in_words,
)
from pellucid.base.kinds import renderers
from pellucid.drawing.terminal import Line, block, caution_lines, indented, line, printed
from pellucid.drawing.wording import three


@renderers.add(draws="attention analysis")
def terminal_attention_analysis(
    analysis: AttentionAnalysis, *, colour: bool | None = None, width: int | None = None
) -> str:
    """The verdict on each model with what it rests on, then every number with its interval.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    first = analysis.models[0]
    lines: list[Line] = [line(verdict_in_words(first), style="bold"), line(summary_in_words(analysis))]
    lines += indented(map(evidence_in_words, first.verdict.evidence))
    lines += [line(verdict_in_words(model)) for model in analysis.models[1:]]
    lines += caution_lines(analysis.caveats)
    for model in analysis.models:
        lines += block(model.name, _numbers(model))
    return printed(lines, colour, width)


def _numbers(model: ModelAttention) -> list[str]:
    points = [
        f"imitation adversary, λ = {at:g}: divergence of the weights {three(x)}, distance of the answers {three(y)}"
        for at, x, y in curve_points(model)
    ]
    return [
        f"{line_name(one)}: {value_in_words(one)}, n = {counts_in_words(one)}"
        for one in ordered_lines(model)
        if not math.isnan(one.value.mean)
    ] + points
