"""An attention analysis in words: the verdict, what each number says, and what none of them says."""

import math

from pellucid.attention.record import (
    AttentionAnalysis,
    AttentionLine,
    ModelAttention,
    VerdictEvidence,
)
from pellucid.drawing.method_facts import readable
from pellucid.drawing.wording import bounds, three

DIVERGENCE, DISTANCE = (
    "divergence of the weights",
    "distance of the answers",
)  # the two lines of a point of the adversary
ANSWERS = {
    "may": "The weights of {name} may be read as an explanation: {reason}.",
    "may not": "The weights of {name} may not be read as an explanation: {reason}.",
    "undecided": "Whether the weights of {name} may be read as an explanation is undecided: {reason}.",
}
MARKS = {
    "may": ("▲", "may be read", "pl-better"),
    "may not": ("▼", "may not be read", "pl-worse"),
    "undecided": ("○", "undecided", "pl-unclear"),
}
READINGS = {
    "for": ("▲", "for", "pl-better"),
    "against": ("▼", "against", "pl-worse"),
    "unclear": ("○", "unclear", "pl-unclear"),
}
LIMITS = (
    "A state has read the whole text, so a weight belongs to the state at a word and not surely to the word. The verdict therefore "
    "also asks what happens without the word.",
    "A text without a word is a text that the model was not made for; how far the answer moves then is partly its surprise.",
    "“May be read” is about these texts: the heaviest word is mostly one that matters. It is no promise for a single text, and none "
    "that the weights name every word that matters, nor that people would give the same reason.",
    "Weights with another placement that give the same answer exist for most models. They show that the weights are not the only ones, "
    "not that they are wrong.",
    "An adversary that imitates a model’s answers imitates its mistakes too, and its distances are means over texts of unequal length; "
    "the largest possible Jensen-Shannon divergence is log 2, about 0.69.",
    "Agreement with a gradient or with leave-one-out is agreement of explanations, which can be wrong together.",
    "Numbers of mutual information by clusters depend on the number of clusters and of states, and on the start; compare them only where "
    "both are equal, and with the bias that shuffled states show.",
)


def verdict_in_words(model: ModelAttention) -> str:
    """One sentence: may the weights be read, and why."""
    return ANSWERS[model.verdict.answer].format(name=model.name, reason=model.verdict.reason)


def summary_in_words(analysis: AttentionAnalysis) -> str:
    """What was tested."""
    first = analysis.models[0]
    right = f" Right answers: {first.accuracy.mean:.0%}." if not math.isnan(first.accuracy.mean) else ""
    left = f" {_texts(first.too_short)} of fewer than two units left out." if first.too_short else ""
    return f"{_texts(first.n_texts)}; {first.name} weighs {first.weighs}.{right}{left}"


def evidence_in_words(evidence: VerdictEvidence) -> str:
    """What one test says for the verdict, with its number and the line that it is compared with."""
    symbol, word, _ = READINGS[evidence.reading]
    value = (
        f" {three(evidence.value.mean)} ({bounds(evidence.value)})"
        if not math.isnan(evidence.value.mean)
        else ""
    )
    return f"{symbol} {word}: {evidence.sentence} {readable(evidence.test)}{value}; {evidence.bound}."


def ordered_lines(model: ModelAttention) -> list[AttentionLine]:
    """The lines that are no points of curves, those of the verdict first."""
    decisive = [evidence.test for evidence in model.verdict.evidence]
    lines = [line for line in model.lines if not line.along]
    return sorted(lines, key=lambda line: line.test.partition("(")[0] not in decisive)


def line_name(line: AttentionLine) -> str:
    """The test, and which of its lines."""
    return f"{readable(line.test)}, {line.part}" if line.part else readable(line.test)


def value_in_words(line: AttentionLine) -> str:
    """The mean with its interval."""
    return f"{three(line.value.mean)} ({bounds(line.value)})"


def counts_in_words(line: AttentionLine) -> str:
    """How many were judged, and the deviation of draws."""
    draws = "" if math.isnan(line.deviation) else f", draws ± {three(line.deviation)}"
    left = f", {line.left_out:,} without" if line.left_out else ""
    return f"{line.n:,}{left}{draws}"


def idle_in_words(line: AttentionLine) -> str:
    """What weights give that have nothing to do with the answer; empty where that is not known."""
    return "" if math.isnan(line.idle) else f"Irrelevant weights: {line.idle:g}."


def _texts(count: int) -> str:
    return f"{count:,} text{'' if count == 1 else 's'}"
