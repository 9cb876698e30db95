"""What the evidence of misclassified texts looks like, and how often the same is seen where the model is right."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.heaviest_spans import NOT_COUNTED, HeaviestSpans
from pellucid.core.results.plain_values import plain
from pellucid.core.results.table import Interval


@dataclass(frozen=True)
class CueWord:
    """A word that is commoner in one class's train texts than in the others'.

    texts: how many of the class's train texts have it. log_odds: its log odds ratio against all other classes; z: that
    divided by its standard deviation.
    """

    word: str
    texts: int
    log_odds: float
    z: float


@dataclass(frozen=True)
class PatternCount:
    """How often a pattern is seen: shares with 95 % intervals (nan bounds: no text). over: the difference, wrong less right."""

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

    wrong, right: how many texts. texts: pattern -> the explained misclassified texts, each under the first pattern it
    shows, in the order of `patterns`. cues: class -> the cue words learnt, surest first. caveats: in words. heaviest: what
    the heaviest spans are, over all texts; none where nobody counted.
    """

    wrong: int
    right: int
    patterns: tuple[PatternCount, ...]
    texts: Mapping[str, Sequence[Explanation]]
    cues: Mapping[str, Sequence[CueWord]]
    caveats: tuple[str, ...] = ()
    heaviest: HeaviestSpans = NOT_COUNTED

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_error_analysis").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_error_analysis").make(self)

    def record(self) -> dict[str, Any]:
        """Plain values, as JSON holds them, None where there is no number; of texts the ids, the labels and the heaviest span."""
        return {
            "wrong": self.wrong,
            "right": self.right,
            "patterns": [plain(asdict(pattern)) for pattern in self.patterns],
            "texts": {name: [_text(one) for one in found] for name, found in self.texts.items()},
            "cues": {label: [asdict(cue) for cue in cues] for label, cues in self.cues.items()},
            "caveats": list(self.caveats),
            "heaviest_spans": self.heaviest.record(),
        }


def _text(explanation: Explanation) -> dict[str, Any]:
    return {
        "id": explanation.example.id,
        "segments": list(explanation.example.segments),
        "label": explanation.example.label,
        "predicted": explanation.prediction.label,
        "spans": [span.text for span in explanation.spans(1)],
    }
