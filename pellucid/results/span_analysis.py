"""The spans of a self-explaining model: the answer that each one gives alone, and how each one changes the
prediction.
"""

from dataclasses import asdict, dataclass

from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import renderers
from pellucid.results.explanation import Explanation
from pellucid.text.lexicon import words_with_content

# The JSON keys of these fields are the names that they had in version 0.1.0; files and scripts rely on them.
JSON_KEYS = {
    "gradient_norm": "slope",
    "gradient_direct": "slope_direct",
    "gradient_by_weights": "slope_by_weights",
}


@dataclass(frozen=True)
class Answer:
    """The model's class, and the probability of the explained class."""

    label: str
    probability: float


@dataclass(frozen=True)
class AnalysedSpan:
    """One span of a text: characters [start, end) of its segment.

    weight: alpha, the span's share of the weighted sum. own, own_value: the head's answer to the span's vector by
    itself; the weighted own values of all spans add up to the explained value. removal: the explained value minus the
    value without this span, whose weight is then shared among the others in proportion (nan: the span has all the
    weight).

    gradient_norm: the length of the explained value's gradient by the span's vector. That gradient is the sum of two
    parts. gradient_direct: the part in the direction of the class (Sun et al., equation 5, keep only this one).
    gradient_by_weights: the signed part in the direction of the score vector: more weight for this span is less weight
    for all others.

    alone: the model's answer to the words of the span, all others absent. without: its answer to the other words.
    random_agrees: the share of random spans of this length that get the predicted class when they are read alone.
    random_probability: their mean probability of the explained class (nan: there is no other span of this length).

    outside: how far the span's vector moves when the words outside are not read, as a share of its length; 0 or more
    (nan: it was not computed). 0: it says nothing but its own words.
    """

    text: str
    segment: int
    start: int
    end: int
    weight: float
    own: Answer
    own_value: float
    removal: float
    gradient_norm: float
    gradient_direct: float
    gradient_by_weights: float
    alone: Answer
    without: Answer
    random_agrees: float
    random_probability: float
    outside: float = float("nan")


@dataclass(frozen=True, eq=False)
class SpanAnalysis:
    """The heaviest spans of one text, analysed.

    explanation: the weights of all spans. effective_spans: 1 / sum of alpha squared; entropy_spans: exp(entropy); both
    count the spans that the weight is spread over. agreeing_weight: the weight of the spans that say the predicted
    class by themselves, in [0, 1]. identity_gap: how far the weighted own values of all spans are from the explained
    value; 0 except for rounding.
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

    def _heaviest_has_content(self) -> bool | None:
        """Whether the heaviest span has a content word; None without spans."""
        if not self.spans:
            return None
        best = self.spans[0]
        return words_with_content(self.explanation.example.segments[best.segment], best.start, best.end)

    def record(self) -> dict[str, object]:
        """Plain values for JSON, under the keys of `spans --json`; None where there is no number."""
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
            "heaviest_has_content": self._heaviest_has_content(),
            "spans": [_span_record(span) for span in self.spans],
        }


def _span_record(span: AnalysedSpan) -> dict[str, object]:
    return {JSON_KEYS.get(name, name): value for name, value in nan_as_none(asdict(span)).items()}
