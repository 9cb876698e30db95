"""A self-explaining model's heaviest spans over many texts: do they have content, and do they alone give the text's
answer?

A model may put its weight where the encoder gathers the text, for example on the final full stop. Its answers are then
as good as ever, and its spans explain nothing. One text does not show this, many do.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import pairwise

import numpy as np

from pellucid.base.checks import percent
from pellucid.results.explanation import Explanation, Scored
from pellucid.results.span_analysis import SpanAnalysis
from pellucid.text.lexicon import has_content, words_with_content
from pellucid.text.ranges import ORDERS, Pick, contents_of, drawn_numbers, first_of, largest_sums, pick_drawn
from pellucid.text.units import SPECIAL, Kind, Spans, Units

# About half of the words of English texts are no content words, so half of all random one-word spans have no content.
# Of the spans that people mark (pocket, e-SNLI, movies) one in forty or fewer has none. A quarter is far from both.
COLLAPSED = 0.25
FEWEST = 20  # texts; a share of fewer texts says little


@dataclass(frozen=True)
class HeaviestSpans:
    """Counts over texts that have a content word; each text counts by its heaviest span.

    texts: how many. without_content: of these, how many have a heaviest span without content word. read: of these, how
    many were read alone, beside random spans of the same length: by their heaviest span, or by all spans that the
    answer uses. alone: of those read, how many got the text's answer. random: for each of those read, the share of its
    random spans that got the text's answer, added up.
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
        """The same share for random spans of the same length."""
        return _ratio(self.random, self.read)

    @property
    def collapsed(self) -> bool:
        """Whether more than a quarter of the spans have no content word, in 20 texts or more."""
        return self.texts >= FEWEST and self.share_without_content > COLLAPSED

    @property
    def says_no_more_than_random(self) -> bool:
        """Whether the spans, read alone, get the answer no more often than random spans of the same length, in 20 texts
        or more.
        """
        return self.read >= FEWEST and self.alone_agrees <= self.random_agrees

    def record(self) -> dict[str, float]:
        """The shares by name, without those that are nan."""
        shares = {
            "heaviest_without_content": self.share_without_content,
            "alone_agrees": self.alone_agrees,
            "random_agrees": self.random_agrees,
        }
        return {name: share for name, share in shares.items() if share == share}

    def in_words(self) -> str:
        """One sentence; an empty one where no text was counted."""
        if not self.texts:
            return ""
        first = (
            f"The heaviest span has a content word in {self.texts - self.without_content:,} of {self.texts:,} texts "
            f"that have any"
        )
        if not self.read:
            return f"{first}."
        return (
            f"{first}. Read alone, the heaviest spans get the text's answer in {percent(self.alone_agrees)} of texts, "
            f"random spans as long in {percent(self.random_agrees)}."
        )

    def cautions(self) -> tuple[str, ...]:
        """Sentences that say why the spans should not be believed; none where nothing speaks against them."""
        cautions = []
        if self.collapsed:
            cautions.append(
                f"The spans have collapsed: in {self.without_content:,} of {self.texts:,} texts the heaviest one is "
                "punctuation or function words alone. Such spans give no reason; train with another penalty, or with "
                "pooler_settings={'spans': 'with_content'}."
            )
        if self.says_no_more_than_random:
            cautions.append(
                f"Read alone, the heaviest spans get the text's answer in {percent(self.alone_agrees)} of "
                f"{self.read:,} texts, random spans as long in {percent(self.random_agrees)}: they say no more than "
                f"random ones."
            )
        return tuple(cautions)


NOT_COUNTED = HeaviestSpans()


def heaviest_spans(explanations: Iterable[Explanation]) -> HeaviestSpans:
    """Counts of the explanations by span weights; other explanations, and texts whose spans weigh the same, are not
    counted.
    """
    return sum(map(_of_explanation, explanations), NOT_COUNTED)


def analysed_heaviest(analyses: Iterable[SpanAnalysis]) -> HeaviestSpans:
    """Counts of analysed texts."""
    return heaviest_spans(analysis.explanation for analysis in analyses)


def _of_explanation(explanation: Explanation) -> HeaviestSpans:
    if not isinstance(explanation.units, Spans) or explanation.rows:
        return NOT_COUNTED
    segments = explanation.example.segments
    return heaviest_span(segments, explanation.units, explanation.scores, explanation.diagnostics)


def heaviest_span(
    segments: tuple[str, ...], spans: Spans, weights: np.ndarray, alone: Mapping[str, float]
) -> HeaviestSpans:
    """Counts of one text; alone: what `read_alone` returns for it, or an empty dictionary.

    A text without a content word, and a text whose spans all weigh the same, are not counted.
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


# The heaviest ranges of a text: neighbouring units of one text, as ranges of the numbers of content units.


def heaviest(explanation: Explanation, unit: Kind, count: int = 1) -> tuple[Kind, list[range]]:
    """(the kind of unit that the numbers count, the heaviest ranges that share no unit, the heaviest first).

    For span scores these are the spans with the highest scores, counted in the model's own parts. For other scores, it
    is the range of units with the largest sum of (score - mean score), then the next one (corrections.md A0.10,
    `max_sum_centred`; the range with the highest mean score would be a single unit). Of equally heavy ones the first.
    """
    parts, choose = _chooser(explanation, unit)
    return parts.kind, choose(count, first_of)  # type: ignore[return-value]


def heaviest_choices(explanation: Explanation, unit: Kind, count: int = 1) -> tuple[Kind, list[list[range]]]:
    """What `heaviest` returns, as several choices where ranges are equally heavy, each as good as the others; else as
    one.

    What a metric makes of a choice is averaged over them.
    """
    parts, choose = _chooser(explanation, unit)
    numbers = drawn_numbers(contents_of(parts))[0]
    choices = [choose(count, pick_drawn(numbers, turn)) for turn in range(ORDERS)]
    return parts.kind, choices if any(choice != choices[0] for choice in choices) else choices[:1]  # type: ignore[return-value]


def _chooser(explanation: Explanation, unit: Kind) -> tuple[Units, Callable[[int, Pick], list[range]]]:
    """The units that ranges are made of, and a function of how many ranges, and which of equally heavy ones."""
    units = explanation.units
    if isinstance(units, Spans):
        return units.parts, partial(_heaviest_spans, units, explanation.scores)
    view = explanation.view(unit)
    scores = np.array(view.scores, dtype=np.float64)[~view.special]
    gains = scores - scores.mean() if len(scores) else scores
    assert isinstance(view.units, Units)  # views of text units are never spans
    return view.units, partial(richest, gains, texts_of(view.units))


def _heaviest_spans(spans: Spans, scores: np.ndarray, count: int, pick: Pick) -> list[range]:
    """The spans with the highest scores that share no part, as ranges of the numbers of content parts."""
    number_of = np.cumsum([segment != SPECIAL for segment in spans.parts.segment]) - 1
    first, last = number_of[np.asarray(spans.first)], number_of[np.asarray(spans.last)]
    free, ranges = np.ones(len(scores), dtype=bool), list[range]()
    while free.any() and len(ranges) < count:
        best = np.flatnonzero(free & (scores == scores[free].max()))
        ranges.append(pick([range(first[index], last[index] + 1) for index in best]))
        free &= (first >= ranges[-1].stop) | (last < ranges[-1].start)
    return ranges


def texts_of(units: Units) -> list[int]:
    """For each content unit, the number of its text."""
    return [segment for segment in units.segment if segment != SPECIAL]


def texts_with_spans(spans: Spans) -> list[int]:
    """For each content unit the number of its text; -1 where the model has no span in that text, as in the first of a
    pair with of="second".
    """
    texts = texts_of(spans.parts)
    with_spans = {spans.parts.segment[int(first)] for first in np.unique(spans.first)}
    return [text if text in with_spans else SPECIAL for text in texts]


def richest(gains: np.ndarray, texts: Sequence[int], count: int, pick: Pick = first_of) -> list[range]:
    """The ranges within one text with the largest sums of gains, the largest first; `pick` chooses among equal ones."""
    borders = [unit for unit in range(1, len(texts)) if texts[unit] != texts[unit - 1]]
    whole_texts = [range(first, stop) for first, stop in pairwise([0, *borders, len(texts)]) if stop > first]
    return largest_sums(gains, whole_texts, count, pick)


# The evidence of an explanation in a few parts: what its reader would name as the reason.

WORDS = 3


def evidence_parts(explanation: Explanation) -> list[Scored]:
    """The heaviest span; of scores a word or piece up to three words that speak most for what is explained.

    The strongest comes first. Empty where nothing speaks for it. Raises `BadSetting` for scores with several rows.
    """
    if isinstance(explanation.units, Spans):
        return explanation.spans(1)
    return [word for word in explanation.words().above_rounding().top(WORDS) if word.score > 0]
