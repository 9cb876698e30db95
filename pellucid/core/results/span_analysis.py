"""What a self-explaining model made of its spans: what each said by itself, and how each moved the prediction."""

from dataclasses import asdict, dataclass
from typing import Any

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.plain_values import plain
from pellucid.core.text.content_words import words_with_content


@dataclass(frozen=True)
class Answer:
    """The class that the model says, and the probability of the explained class."""

    label: str
    probability: float


@dataclass(frozen=True)
class AnalysedSpan:
    """One span of a text: characters start to end of its segment.

    weight: alpha. own, own_value: what the head says of the span's vector by itself; the
    weighted own values of all spans sum to the explained value. removal: the explained value less what it would be
    without this span, its weight shared among the others in proportion (nan: it holds all the weight).

    slope: the length of the value's gradient by the span's vector, which is slope_direct in the direction of the
    class (what is left of Sun et al., equation 5) plus slope_by_weights, signed, in that of the score vector: raising
    the span's weight takes weight from all others.

    alone: the model on the words of the span, all others absent. without: the model on the others. random_agrees: the
    share of random spans of this length that get the prediction when read alone; random_probability: their mean
    probability of the explained class (nan: there is no other span of this length).
    """

    text: str
    segment: int
    start: int
    end: int
    weight: float
    own: Answer
    own_value: float
    removal: float
    slope: float
    slope_direct: float
    slope_by_weights: float
    alone: Answer
    without: Answer
    random_agrees: float
    random_probability: float


@dataclass(frozen=True, eq=False)
class SpanAnalysis:
    """The heaviest spans of one text, analysed; explanation: the weights of all.

    effective_spans: 1 / sum of alpha squared; entropy_spans: exp(entropy). agreeing_weight: the weight of the spans
    that say the predicted class by themselves, in [0, 1]. identity_gap: how far the weighted own values of all spans
    are from the explained value, 0 but for rounding.
    """

    explanation: Explanation
    spans: tuple[AnalysedSpan, ...]
    effective_spans: float
    entropy_spans: float
    agreeing_weight: float
    identity_gap: float

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_span_analysis").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_span_analysis").make(self)

    def _says_something(self) -> bool | None:
        """Whether a word of the heaviest span is a content word; None without spans."""
        if not self.spans:
            return None
        best = self.spans[0]
        return words_with_content(self.explanation.example.segments[best.segment], best.start, best.end)

    def record(self) -> dict[str, Any]:
        """Plain values, as JSON holds them; None stands where there is no number."""
        explanation = self.explanation
        named = ("effective_spans", "entropy_spans", "agreeing_weight", "identity_gap")
        return {
            "id": explanation.example.id,
            "segments": list(explanation.example.segments),
            "label": explanation.example.label,
            "predicted": explanation.prediction.label,
            "explained": str(explanation.target),
            "value": explanation.target.value,
            **{name: getattr(self, name) for name in named},
            "heaviest_has_content": self._says_something(),
            "spans": [plain(asdict(span)) for span in self.spans],
        }
