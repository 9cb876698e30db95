"""The scores of a text's units, and their views: neighbours joined, coarser units, the highest, spans, runs, rows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np

from pellucid.base.checks import at_least
from pellucid.base.errors import BadSetting
from pellucid.text.example import Example
from pellucid.text.ranges import runs_above
from pellucid.text.units import IN_WORDS, Kind, Spans, Units, coarsen

RowAxis = tuple[str, tuple[str, ...]]


@dataclass(frozen=True)
class Scored:
    """One unit or span with its score: what `top` lists."""

    text: str
    score: float
    segment: int
    start: int
    end: int


def scored_unit(units: Units | Spans, segments: Sequence[str], scores: np.ndarray, index: int) -> Scored:
    """One unit or span with its text, score and offsets; scores: [unit]."""
    if isinstance(units, Spans):
        segment, start, end = units.characters(index)
    else:
        segment, start, end = units.segment[index], units.start[index], units.end[index]
    text = segments[segment][start:end] if segment >= 0 else units.labels[index]  # type: ignore[union-attr]
    return Scored(text, float(scores[index]), segment, start, end)


def scored_runs(units: Units, segments: Sequence[str], scores: np.ndarray, bar: float) -> list[Scored]:
    """Neighbouring units whose scores [unit] are all above a bar, joined, with their mean score; the best first."""
    runs = []
    for first, last in runs_above(units, scores, bar):
        segment, start, end = units.segment[first], units.start[first], units.end[last]
        mean = float(scores[first : last + 1].mean(dtype=np.float64))
        runs.append(Scored(segments[segment][start:end], mean, segment, start, end))
    return runs


def coarser(units: Units | Spans, scores: np.ndarray, kind: Kind, segments: Sequence[str]) -> tuple[Units, np.ndarray]:
    """The coarser units and their scores [..., unit], added up; a span's score is first shared among its parts."""
    fine, scores = (units.parts, units.share(scores)) if isinstance(units, Spans) else (units, scores)
    if fine.kind == kind:
        return fine, scores
    coarse, index = coarsen(fine, kind, segments)
    sums = np.zeros((*scores.shape[:-1], len(coarse)), dtype=np.float64)
    np.add.at(sums.T, np.array(index, dtype=np.int64), scores.T)  # a view: sums changes
    return coarse, sums


def one_row(
    scores: np.ndarray, rows: Sequence[RowAxis], labels: Sequence[str]
) -> tuple[np.ndarray, tuple[RowAxis, ...]]:
    """The scores of one row by its labels, outermost axis first, and the axes that are left."""
    rest = list(rows)
    for label in labels:
        kind, known = rest.pop(0) if rest else ("row", ())
        if label not in known:
            raise BadSetting(f"There is no {kind} {label!r}; there are: {', '.join(known)}.")
        scores = scores[known.index(label)]
    return scores, tuple(rest)


class UnitScores:
    """Scores [*rows, unit] of an example's units, by a method; a dataclass with these fields gets the views."""

    example: Example
    units: Units | Spans
    scores: np.ndarray
    method: str
    rows: tuple[RowAxis, ...]
    diagnostics: Mapping[str, float]
    caveats: tuple[str, ...]
    row_diagnostics: tuple[Mapping[str, float], ...]
    row_caveats: tuple[tuple[str, ...], ...]
    of_row: tuple[tuple[str, str], ...]

    def __iter__(self) -> Iterator[tuple[str, float]]:
        """(word, score) in reading order, special tokens left out; where units are larger than words, (unit, score)."""
        words = self.as_iterated()
        return ((words.scored(index).text, float(words._plain()[index])) for index in words.units.content)

    def __len__(self) -> int:
        return len(self.as_iterated().units.content)

    @property
    def special(self) -> np.ndarray:
        """[unit] bool: the model's special tokens (never True for spans)."""
        return self.units.special

    @property
    def hidden_sum(self) -> float:
        """The sum of the special tokens' scores, which no picture of the text shows; for scores with one row."""
        return float(self._plain()[self.special].sum(dtype=np.float64))

    def view(self, kind: Kind) -> Self:
        """The same scores a word, or another kind of unit, added up; a span's score is first shared among its parts."""
        units, scores = coarser(self.units, self.scores, kind, self.example.segments)
        diagnostics = {**self.diagnostics, **self._coarser_resolution(units)}
        return replace(self, units=units, scores=scores, diagnostics=diagnostics)  # type: ignore[type-var]  # those who have the views are dataclasses

    def _coarser_resolution(self, units: Units) -> dict[str, float]:
        """A sum of scores is less certain than each of them, by about the root of their number; a span's score is only
        shared out.
        """
        if not self.resolution or isinstance(self.units, Spans) or not units.content:
            return {}
        return {"resolution": self.resolution * (len(self.units.content) / len(units.content)) ** 0.5}

    def words(self) -> Self:
        """One score a word: the sum of its pieces'.

        >>> explanation.words().units.labels
        ('A', 'good', 'film', '.')
        """
        return self.view("word")

    def sentences(self) -> Self:
        """One score a sentence."""
        return self.view("sentence")

    def paragraphs(self) -> Self:
        """One score a paragraph."""
        return self.view("paragraph")

    def types(self) -> Self:
        """Each of the text's units once, where it stands first: units that read alike, but for case, with equal scores
        are one.

        For `decoded_saliency`, which gives pieces with equal ids one score. Special tokens are left out.

        >>> len(explanation), len(explanation.types())
        (4, 4)
        """
        if isinstance(self.units, Spans):
            raise BadSetting(f"{self.method} scores spans; use .spans(k).")
        first: dict[tuple[str, bytes], int] = {}
        for index in self.units.content:
            first.setdefault((self.units.labels[index].casefold(), self.scores[..., index].tobytes()), index)
        indices = sorted(first.values())
        return replace(self, units=self.units.take(indices), scores=self.scores[..., indices])  # type: ignore[type-var]

    def ranking(self) -> list[int]:
        """Indices of the text's units, highest score first, to be shown; ties keep reading order, so metrics rank
        otherwise; special tokens left out.
        """
        scores = self._plain()
        return sorted(np.flatnonzero(~self.special).tolist(), key=lambda index: (-scores[index], index))

    def top(self, k: int = 5) -> list[Scored]:
        """The k highest-scored units of the text, highest first.

        k: how many, 1 or more. Each has text, score, segment, start and end. Raises `BadSetting` for scores with
        several rows.

        >>> [(unit.text, unit.start, round(unit.score, 2)) for unit in explanation.top(2)]
        [('good', 2, 1.5), ('A', 0, 0.0)]
        """
        at_least("k", k, 1)
        return [self.scored(index) for index in self.ranking()[:k]]

    def runs(self, above: float = 0.5) -> list[Scored]:
        """Neighbouring units whose scores are all above a bar, joined; the best first (see `runs_above`).

        Each has the mean score of its units. For the method `rationale` they are what the model read.
        """
        if isinstance(self.units, Spans):
            raise BadSetting(f"{self.method} scores spans already; use .spans(k).")
        return scored_runs(self.units, self.example.segments, self._plain(), above)

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
        return scored_unit(self.units, self.example.segments, self._plain(), index)

    @property
    def resolution(self) -> float:
        """The size below which a score may be nothing but rounding; 0 where that was not measured, as in files of
        earlier versions.
        """
        return self.diagnostics.get("resolution", 0.0)

    @property
    def is_unread(self) -> bool:
        """Whether the model can read no word of the text, so that no score says anything of the words."""
        return self.diagnostics.get("unread_words") == 1.0

    def unread(self) -> list[str]:
        """The words, or larger units, that the model cannot read, in reading order; none where that is not known.

        >>> explanation.unread()
        []
        """
        units = self.as_iterated().units
        assert isinstance(units, Units)  # spans are shared among words
        return [units.labels[index] for index in units.content if units.readings and units.readings[index] == "none"]

    def above_rounding(self) -> Self:
        """The same with 0 for every score that is smaller than the resolution: what pictures colour, and what counts as
        a sign.

        >>> explanation.above_rounding().top(1)[0].text
        'good'
        """
        scores = np.where(np.abs(self.scores) < self.resolution, np.float32(0.0), self.scores)
        return replace(self, scores=scores)  # type: ignore[type-var]

    def normalised(self) -> np.ndarray:
        """[*rows, unit]: the scores divided by the sum of their absolute values (0 stays 0)."""
        total = np.abs(self.scores).sum(-1, keepdims=True)
        return np.divide(self.scores, total, out=np.zeros_like(self.scores), where=total > 0)

    def row(self, *labels: str) -> Self:
        """One row of an explanation with several (a layer, a draw), by its labels, outermost first.

        labels: one for each of the first axes in `rows`. The row has its own diagnostics and caveats where the method
        gives them a row; `of_row` says which row it is. Raises `BadSetting` for a label that is not there.

        >>> by_layer = pellucid.explain("my-classifier", "A good film.", "attention_heads")[0]
        >>> by_layer.scores.shape, by_layer.row("1.2").scores.shape
        ((12, 6), (6,))
        """
        scores, rows = one_row(self.scores, self.rows, labels)
        kinds = (kind for kind, _ in self.rows)
        of_row = (*self.of_row, *zip(kinds, labels, strict=False))
        return replace(self._first_axis_at(labels), scores=scores, rows=rows, of_row=of_row)  # type: ignore[type-var]

    def _first_axis_at(self, labels: Sequence[str]) -> Self:
        """What is known of one label of the first axis, in place of what is known of all; the shape is not yet
        right.
        """
        if not labels or not self.row_caveats:
            return self
        index = self.rows[0][1].index(labels[0])
        return replace(  # type: ignore[type-var]
            self,
            diagnostics=self.row_diagnostics[index],
            caveats=self.row_caveats[index],
            row_diagnostics=(),
            row_caveats=(),
        )

    def shown_row(self) -> Self:
        """What reports show: the explanation, or of several rows the first; of layers the last, the highest."""
        return self.row(*(labels[-1 if kind == "layer" else 0] for kind, labels in self.rows))

    def as_iterated(self) -> Self:
        """What iteration runs over: the view of words; of sentences and larger units, which have no words, the
        explanation itself.
        """
        return self.words() if self.units.kind in (*IN_WORDS, "span") else self

    def _span_units(self) -> Spans:
        if not isinstance(self.units, Spans):
            raise BadSetting(f"{self.method} scores {self.units.kind}s, not spans; use .words().top(k).")
        return self.units

    def _plain(self) -> np.ndarray:
        if self.rows:
            names = ", ".join(f"{kind} ({', '.join(labels)})" for kind, labels in self.rows)
            raise BadSetting(f"These scores have several rows: {names}. Choose one with .row(label).")
        return self.scores


# Which of many spans are shown: those without overlap, the one that covers some characters, those as long as a unit.


def without_overlap(spans: Spans, ranking: Sequence[int], k: int) -> list[int]:
    """The first k spans of a ranking that share no part with an earlier one."""
    indices: list[int] = []
    covered = np.zeros(len(spans.parts), dtype=bool)
    for index in ranking:
        part = slice(int(spans.first[index]), int(spans.last[index]) + 1)
        if len(indices) < k and not covered[part].any():
            indices.append(index)
            covered[part] = True
    return indices


def smallest_cover(spans: Spans, segment: int, start: int, end: int) -> int:
    """The smallest span of a text that covers these characters; raises `BadSetting` when there is none."""
    offsets = enumerate(map(spans.characters, range(len(spans))))
    covering = [
        (last - first, index)
        for index, (own_segment, first, last) in offsets
        if own_segment == segment and first <= start and end <= last
    ]
    if not covering:
        raise BadSetting(f"No scored span covers characters {start} to {end} of text {segment}.")
    return min(covering)[1]


def equal_to_units(spans: Spans, units: Units) -> list[int]:
    """The spans that begin and end where one of these units does."""
    offsets = {(units.segment[n], units.start[n], units.end[n]) for n in units.content}
    return [index for index in range(len(spans)) if spans.characters(index) in offsets]
