"""What a self-explaining model's heaviest spans are over many texts: whether they say anything, and the text's answer alone.

A model may put its weight where the encoder gathers the text, on the final full stop say: the answers are as good as ever,
and the spans explain nothing. One text does not show it, many do.
"""

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from pellucid.core.results.explanation import Explanation
from pellucid.core.results.span_analysis import SpanAnalysis
from pellucid.core.text.content_words import has_content, words_with_content
from pellucid.core.text.units import Spans

# Of the words of English texts about half are no content words, and so are one in two spans of a word drawn at random; of
# the spans that people mark (pocket, e-SNLI, movies) one in forty or fewer. A quarter is far from both: every fourth explanation names no reason.
COLLAPSED = 0.25
FEWEST = 20  # texts; of fewer the share says little


@dataclass(frozen=True)
class HeaviestSpans:
    """texts: counted, each by its heaviest span; those that have a content word. without_content: of these of punctuation and function words alone.

    read: of the texts, whose span was read alone beside random spans of its length; alone: of these, which got the text's
    answer then; random: the sum of the shares of random spans that did.
    """

    texts: int = 0
    without_content: int = 0
    read: int = 0
    alone: float = 0.0
    random: float = 0.0

    def __add__(self, other: "HeaviestSpans") -> "HeaviestSpans":
        mine, theirs = asdict(self), asdict(other)
        return HeaviestSpans(**{name: mine[name] + theirs[name] for name in mine})

    @property
    def share_without_content(self) -> float:
        """0 to 1; nan without texts."""
        return _ratio(self.without_content, self.texts)

    @property
    def alone_agrees(self) -> float:
        """The share of heaviest spans that get the text's answer when read alone, 0 to 1; nan where none was read."""
        return _ratio(self.alone, self.read)

    @property
    def random_agrees(self) -> float:
        """The same share of random spans as long."""
        return _ratio(self.random, self.read)

    @property
    def collapsed(self) -> bool:
        """Whether more than a quarter of the spans hold no content word, of 20 texts or more."""
        return self.texts >= FEWEST and self.share_without_content > COLLAPSED

    @property
    def says_no_more_than_random(self) -> bool:
        """Whether the spans, read alone, get the answer no oftener than random ones as long, of 20 texts or more."""
        return self.read >= FEWEST and self.alone_agrees <= self.random_agrees

    def record(self) -> dict[str, float]:
        """The shares that are known, by name."""
        shares = {
            "heaviest_without_content": self.share_without_content,
            "alone_agrees": self.alone_agrees,
            "random_agrees": self.random_agrees,
        }
        return {name: share for name, share in shares.items() if share == share}

    def in_words(self) -> str:
        """One sentence, or none where nothing was counted."""
        if not self.texts:
            return ""
        spans = "span holds" if self.texts == 1 else "spans hold"
        first = (
            f"Of {self.texts:,} texts the heaviest {spans} no content word (punctuation and function words alone) in "
            f"{self.share_without_content:.0%}"
        )
        if not self.read:
            return f"{first}."
        return (
            f"{first}; read alone it gets the text's answer in {self.alone_agrees:.0%}, random spans as long in "
            f"{self.random_agrees:.0%}."
        )

    def cautions(self) -> tuple[str, ...]:
        """What speaks against believing the spans, in words."""
        found = []
        if self.collapsed:
            found.append(
                f"The spans have collapsed: in {self.without_content:,} of {self.texts:,} texts the heaviest one is "
                "punctuation or function words alone. Such spans give no reason; train with another penalty, or with "
                "pooler_settings={'spans': 'with_content'}."
            )
        if self.says_no_more_than_random:
            found.append(
                f"Read alone, the heaviest spans get the text's answer in {self.alone_agrees:.0%} of {self.read:,} texts, "
                f"random spans as long in {self.random_agrees:.0%}: they say no more than random ones."
            )
        return tuple(found)


NOT_COUNTED = HeaviestSpans()


def heaviest_spans(explanations: Iterable[Explanation]) -> HeaviestSpans:
    """Counts of explanations by span weights; of others, and of texts whose spans all weigh the same, none."""
    return sum(map(_of_explanation, explanations), NOT_COUNTED)


def analysed_heaviest(analyses: Iterable[SpanAnalysis]) -> HeaviestSpans:
    """Counts of analysed texts."""
    return sum(map(_of_analysis, analyses), NOT_COUNTED)


def _of_analysis(analysis: SpanAnalysis) -> HeaviestSpans:
    explanation = analysis.explanation
    if not analysis.spans or not isinstance(explanation.units, Spans):
        return NOT_COUNTED
    best = analysis.spans[0]
    alone: dict[str, float] = {}
    if best.random_agrees == best.random_agrees:  # there is another span of its length
        agrees = float(best.alone.label == explanation.prediction.label)
        alone = {"alone_agrees": agrees, "random_agrees": best.random_agrees}
    return heaviest_span(explanation.example.segments, explanation.units, explanation.scores, alone)


def _of_explanation(explanation: Explanation) -> HeaviestSpans:
    if not isinstance(explanation.units, Spans) or explanation.rows:
        return NOT_COUNTED
    segments = explanation.example.segments
    return heaviest_span(segments, explanation.units, explanation.scores, explanation.diagnostics)


def heaviest_span(
    segments: tuple[str, ...], spans: Spans, weights: np.ndarray, alone: Mapping[str, Any]
) -> HeaviestSpans:
    """Counts of one text; alone: what `read_alone` says of it, or nothing.

    None of a text without any content word, of which no span has one, and none where all spans weigh the same.
    """
    even = len(weights) > 1 and weights.max() == weights.min()
    if not len(weights) or even or not any(map(has_content, segments)):
        return NOT_COUNTED
    segment, start, end = spans.characters(int(weights.argmax()))
    read = {"alone_agrees", "random_agrees"} <= alone.keys()
    return HeaviestSpans(
        texts=1,
        without_content=int(not words_with_content(segments[segment], start, end)),
        read=int(read),
        alone=float(alone["alone_agrees"]) if read else 0.0,
        random=float(alone["random_agrees"]) if read else 0.0,
    )


def _ratio(part: float, whole: int) -> float:
    return part / whole if whole else float("nan")
