"""The explanation of one text: raw, signed scores, with everything that is needed to judge and repeat them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from pellucid.core.foundation.checks import at_least
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import renderers
from pellucid.core.foundation.wording import shortened
from pellucid.core.results.span_choice import equal_to_units, smallest_cover, without_overlap
from pellucid.core.text.example import Example
from pellucid.core.text.ranges import runs_above
from pellucid.core.text.units import Kind, Spans, Units, coarsen

RowAxis = tuple[str, tuple[str, ...]]
UNSURE = 0.2  # two classes of which one has 0.6 or more are further apart


@dataclass(frozen=True, repr=False)
class Prediction:
    """The model's prediction: its highest class, its logits, and one probability a class (none for a regression)."""

    label: str
    labels: tuple[str, ...]
    logits: tuple[float, ...]
    probabilities: tuple[float, ...]

    @property
    def probability(self) -> float:
        """The predicted class's probability."""
        return self.probabilities[self.labels.index(self.label)] if self.probabilities else float("nan")

    @property
    def is_unsure(self) -> bool:
        """Whether the two likeliest classes are less than 0.2 apart; False where there are no probabilities."""
        best = sorted(self.probabilities)[-2:]
        return len(best) == 2 and best[1] - best[0] < UNSURE

    def __repr__(self) -> str:
        return f"<Prediction {answer(self)}>"


def answer(prediction: Prediction) -> str:
    """The predicted class and its probability, in two words."""
    chance = f" {prediction.probability:.2f}" if prediction.probabilities else ""
    return f"{prediction.label}{chance}"


@dataclass(frozen=True)
class Explained:
    """The explained value: of which class (against which other, or None), which output, and its number."""

    label: str
    against: str | None
    output: str
    value: float

    def __str__(self) -> str:
        return f"{self.output} of {self.label}" + (f" against {self.against}" if self.against else "")


@dataclass(frozen=True)
class Scored:
    """One unit or span with its score: what `top` lists."""

    text: str
    score: float
    segment: int
    start: int
    end: int


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """One text's explanation by one method; its views (`words`, `top`, ...) return new objects and never change it.

    units: what scores belong to, special tokens among them. scores: [*rows, unit] in float32, raw, signed, never normalised.
    target: what is explained. method, settings, seed: how; settings are all of the method's. model, model_hash: its name
    and the digest of its weights. rows: kind and labels of each leading axis (layer, head, draw), outermost first.
    diagnostics: how far the scores can be believed, as numbers; caveats: as sentences.
    """

    example: Example
    units: Units | Spans
    scores: np.ndarray
    target: Explained
    prediction: Prediction
    method: str
    settings: Mapping[str, Any]
    seed: int
    model: str
    model_hash: str
    rows: tuple[RowAxis, ...] = ()
    diagnostics: Mapping[str, float] = field(default_factory=dict)
    caveats: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        scores = np.array(self.scores, dtype=np.float32)
        expected = (*(len(labels) for _, labels in self.rows), len(self.units))
        if scores.shape != expected:
            raise BadSetting(f"Scores of shape {scores.shape} do not fit rows and units of shape {expected}.")
        scores.flags.writeable = False
        object.__setattr__(self, "scores", scores)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        same = all(
            getattr(self, name) == getattr(other, name)
            for name in self.__dataclass_fields__
            if name != "scores"
        )
        return same and self.scores.tobytes() == other.scores.tobytes()

    __hash__ = None  # type: ignore[assignment]

    def __iter__(self) -> Iterator[tuple[str, float]]:
        """(word, score) in reading order, special tokens left out; where units are larger than words, (unit, score)."""
        words = self._at_words()
        return ((words.scored(index).text, float(words._plain()[index])) for index in words.content)

    def __len__(self) -> int:
        return len(self._at_words().content)

    def __repr__(self) -> str:
        return f"<Explanation {shortened(self.example.text)!r} {answer(self.prediction)} by {self.method}>"

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return self.to_html()

    def to_html(self) -> str:
        """The fragment of HTML that a notebook draws, with its own style sheet."""
        return renderers.get("notebook_html").make(self)

    def to_svg(self) -> str:
        """A picture of the text on a background that shows each word's score, as SVG."""
        return renderers.get("text_svg").make(self)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_text").make(self)

    @property
    def is_correct(self) -> bool | None:
        """Whether the prediction is the label; None where the label is none of the model's classes, or there is none."""
        label = self.example.label
        return label == self.prediction.label if label in self.prediction.labels else None

    @property
    def content(self) -> tuple[int, ...]:
        """The indices of the units that are text, in reading order; for spans all indices."""
        return tuple(range(len(self.units))) if isinstance(self.units, Spans) else self.units.content

    @property
    def special(self) -> np.ndarray:
        """[unit] bool: the model's special tokens (never True for spans)."""
        return np.zeros(len(self.units), dtype=bool) if isinstance(self.units, Spans) else self.units.special

    @property
    def hidden_sum(self) -> float:
        """The sum of the special tokens' scores, which no picture of the text shows; for scores with one row."""
        return float(self._plain()[self.special].sum(dtype=np.float64))

    def view(self, kind: Kind) -> "Explanation":
        """The same scores a word, sentence or paragraph, added up; a span's score is first shared among its parts."""
        if isinstance(self.units, Spans):
            parts = replace(self, units=self.units.parts, scores=self.units.share(self.scores))
            return parts if self.units.parts.kind == kind else parts.view(kind)
        units, index = coarsen(self.units, kind, self.example.segments)
        sums = np.zeros((*self.scores.shape[:-1], len(units)), dtype=np.float64)
        np.add.at(sums.T, np.array(index, dtype=np.int64), self.scores.T)  # a view: sums changes
        return replace(self, units=units, scores=sums)

    def words(self) -> "Explanation":
        """One score a word: the sum of its pieces'."""
        return self.view("word")

    def sentences(self) -> "Explanation":
        """One score a sentence."""
        return self.view("sentence")

    def paragraphs(self) -> "Explanation":
        """One score a paragraph."""
        return self.view("paragraph")

    def ranking(self) -> list[int]:
        """Indices of the text's units, highest score first; ties keep reading order; special tokens left out."""
        scores = self._plain()
        return sorted(np.flatnonzero(~self.special).tolist(), key=lambda index: (-scores[index], index))

    def top(self, k: int = 5) -> list[Scored]:
        """The k highest-scored units of the text, highest first."""
        at_least("k", k, 1)
        return [self.scored(index) for index in self.ranking()[:k]]

    def runs(self, above: float = 0.5) -> list[Scored]:
        """Neighbouring units whose scores are all above a bar, joined; the best first (see `runs_above`).

        Each has the mean score of its units. For the method `rationale` they are what the model read.
        """
        if isinstance(self.units, Spans):
            raise BadSetting(f"{self.method} scores spans already; use .spans(k).")
        units, scores = self.units, self._plain()
        runs = []
        for first, last in runs_above(units, scores, above):
            segment, start, end = units.segment[first], units.start[first], units.end[last]
            mean = float(scores[first : last + 1].mean(dtype=np.float64))
            runs.append(Scored(self.example.segments[segment][start:end], mean, segment, start, end))
        return runs

    def spans(self, k: int = 3) -> list[Scored]:
        """The k highest-scored spans that do not overlap; raises `BadSetting` when scores do not belong to spans."""
        return [self.scored(index) for index in self.heaviest_spans(k)]

    def heaviest_spans(self, k: int) -> list[int]:
        """The indices of what `spans` lists."""
        at_least("k", k, 1)
        return without_overlap(self._span_units(), self.ranking(), k)

    def span(self, start: int, end: int, segment: int = 0) -> Scored:
        """The smallest scored span that covers these characters of a text; raises `BadSetting` when there is none."""
        return self.scored(smallest_cover(self._span_units(), segment, start, end))

    def spans_at(self, kind: Kind) -> list[Scored]:
        """For each word, sentence or paragraph the span that is exactly as long; left out where there is none."""
        whole = coarsen(self._span_units().parts, kind, self.example.segments)[0]
        return [self.scored(index) for index in equal_to_units(self._span_units(), whole)]

    def scored(self, index: int) -> Scored:
        """One unit or span with its text, score and offsets."""
        units = self.units
        if isinstance(units, Spans):
            segment, start, end = units.characters(index)
        else:
            segment, start, end = units.segment[index], units.start[index], units.end[index]
        text = self.example.segments[segment][start:end] if segment >= 0 else units.labels[index]  # type: ignore[union-attr]
        return Scored(text, float(self._plain()[index]), segment, start, end)

    def normalised(self) -> np.ndarray:
        """[*rows, unit]: the scores divided by the sum of their absolute values (0 stays 0)."""
        total = np.abs(self.scores).sum(-1, keepdims=True)
        return np.divide(self.scores, total, out=np.zeros_like(self.scores), where=total > 0)

    def row(self, *labels: str) -> "Explanation":
        """One row of an explanation with several (a layer, a draw), by its labels, outermost first."""
        scores, rest = self.scores, list(self.rows)
        for label in labels:
            kind, known = rest.pop(0) if rest else ("row", ())
            if label not in known:
                raise BadSetting(f"There is no {kind} {label!r}; there are: {', '.join(known)}.")
            scores = scores[known.index(label)]
        return replace(self, scores=scores, rows=tuple(rest))

    def _at_words(self) -> "Explanation":
        """The view of words; of sentences and paragraphs, which have no words, the explanation itself."""
        return self if self.units.kind in ("word", "sentence", "paragraph") else self.words()

    def _span_units(self) -> Spans:
        if not isinstance(self.units, Spans):
            raise BadSetting(f"{self.method} scores {self.units.kind}s, not spans; use .words().top(k).")
        return self.units

    def _plain(self) -> np.ndarray:
        if self.rows:
            names = ", ".join(f"{kind} ({', '.join(labels)})" for kind, labels in self.rows)
            raise BadSetting(f"These scores have several rows: {names}. Choose one with .row(label).")
        return self.scores
