"""The evidence of an explanation in a few parts: what its reader would name as the reason."""

from pellucid.core.results.explanation import Explanation, Scored
from pellucid.core.text.units import Spans

WORDS = 3


def evidence_parts(explanation: Explanation) -> list[Scored]:
    """The heaviest span; of scores a word or piece up to three words that speak most for what is explained.

    The strongest comes first. Empty where nothing speaks for it. Raises `BadSetting` for scores with several rows.
    """
    if isinstance(explanation.units, Spans):
        return explanation.spans(1)
    return [word for word in explanation.words().above_rounding().top(WORDS) if word.score > 0]
