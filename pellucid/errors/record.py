"""Patterns in the evidence of misclassified texts, and how often the same patterns occur where the model is right."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import renderers
from pellucid.results.explanation import Explanation
from pellucid.results.heaviest_spans import NOT_COUNTED, HeaviestSpans, evidence_parts
from pellucid.results.table import Interval
from pellucid.text.units import Spans


@dataclass(frozen=True)
class CueWord:
    """A word that is more common in one class's train texts than in the others'.

    texts: how many of the class's train texts have it. log_odds: its log odds ratio against all other classes. z: the
    log odds ratio divided by its standard deviation.
    """

    word: str
    texts: int
    log_odds: float
    z: float


@dataclass(frozen=True)
class PatternCount:
    """How often a pattern occurs among wrong and right answers.

    share_wrong, share_right: shares with 95 % intervals (nan bounds: no text). over: share_wrong - share_right.
    """

    name: str
    meaning: str
    among_wrong: int
    among_right: int
    share_wrong: Interval
    share_right: Interval
    over: Interval


@dataclass(frozen=True, eq=False)
class ErrorAnalysis:
    """Patterns of evidence among wrong and right answers; a text counts for every pattern that it shows.

    wrong, right: how many texts. texts: pattern -> the explained misclassified texts, each under the first pattern that
    it shows, in the order of `patterns`; the surest mistakes first. cues: class -> its cue words, the surest first. caveats: sentences. heaviest:
    counts of the heaviest spans over all texts; all 0 where they were not counted. method: whose scores are the evidence.
    """

    wrong: int
    right: int
    patterns: tuple[PatternCount, ...]
    texts: Mapping[str, Sequence[Explanation]]
    cues: Mapping[str, Sequence[CueWord]]
    caveats: tuple[str, ...] = ()
    heaviest: HeaviestSpans = NOT_COUNTED
    method: str = "span_attention"

    @property
    def by_span(self) -> bool:
        """Whether the evidence of a text is a span, and not the words with the highest scores."""
        explanations = [one for texts in self.texts.values() for one in texts]
        return bool(self.heaviest.texts) or any(isinstance(one.units, Spans) for one in explanations)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_error_analysis").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_error_analysis").make(self)

    def record(self) -> dict[str, object]:
        """Plain values for JSON, None where there is no number; a text as its id, segments, labels and evidence."""
        return {
            "method": self.method,
            "wrong": self.wrong,
            "right": self.right,
            "patterns": [nan_as_none(asdict(pattern)) for pattern in self.patterns],
            "texts": {name: [_text(one) for one in of_pattern] for name, of_pattern in self.texts.items()},
            "cues": {label: [asdict(cue) for cue in cues] for label, cues in self.cues.items()},
            "caveats": list(self.caveats),
            "heaviest_spans": self.heaviest.record(),
        }


def _text(explanation: Explanation) -> dict[str, object]:
    return {
        "id": explanation.example.id,
        "segments": list(explanation.example.segments),
        "label": explanation.example.label,
        "predicted": explanation.prediction.label,
        "spans": [part.text for part in evidence_parts(explanation)],
    }
