"""A map of one text: the scores of its words, or sentences, in each row (of a layer, say); a map of two texts."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.base.checks import shortened, whole
from pellucid.base.errors import BadInput
from pellucid.results.explanation import Explanation
from pellucid.results.unit_scores import coarser
from pellucid.text.example import Example
from pellucid.text.units import Kind, united_reading

Place = tuple[int, int, int]  # segment, start and end of a word in the original text


@dataclass(frozen=True, eq=False)
class WordMap:
    """Scores [row word] in float64, raw, in reading order.

    words, places: each column's text, and where it stands: (segment, start, end). rows: the labels of the rows, the
    lowest layer first. elsewhere: [row], the sum of the special tokens' scores, which belong to no word. resolution:
    the size below which a score may be nothing but rounding. unread: the places of words that the model cannot read.
    """

    words: tuple[str, ...]
    places: tuple[Place, ...]
    rows: tuple[str, ...]
    scores: np.ndarray
    elsewhere: np.ndarray
    resolution: float = 0.0
    unread: frozenset[Place] = frozenset()

    @property
    def above_rounding(self) -> np.ndarray:
        """[row word]: 0 for what may be rounding: what a picture colours."""
        return np.where(np.abs(self.scores) < self.resolution, 0.0, self.scores)

    @property
    def sums(self) -> np.ndarray:
        """[row]: the sum over the words."""
        return self.scores.sum(-1)

    @property
    def last(self) -> np.ndarray:
        """[word]: the scores of the last row, the highest layer."""
        return self.scores[-1]


def word_map(explanation: Explanation) -> WordMap:
    """The words of an explanation with one axis of rows; the pieces of a word are added up."""
    return _map(explanation, "word")


def sentence_map(explanation: Explanation) -> WordMap:
    """The sentences of an explanation with one axis of rows; the pieces of a sentence are added up."""
    return _map(explanation, "sentence")


def unit_map(explanation: Explanation) -> WordMap:
    """The same for units that are larger than words, such as passages, with the beginning of each."""
    full_map = _map(explanation, explanation.units.kind)  # type: ignore[arg-type]
    return replace(full_map, words=tuple(shortened(text) for text in full_map.words))


def mean_map(maps: Sequence[WordMap]) -> WordMap:
    """The mean of several trainings' maps of one text."""
    first = maps[0]
    scores = np.mean([of_training.scores for of_training in maps], axis=0)
    elsewhere = np.mean([of_training.elsewhere for of_training in maps], axis=0)
    return replace(first, scores=scores, elsewhere=elsewhere, resolution=_coarsest(maps))


def model_map(maps: Sequence[WordMap], names: Sequence[str]) -> WordMap:
    """The last rows of several models' maps of one text, for the words that all of them have at one place.

    Raises `BadInput` where no word is common to all, since the models cut the text into other words.
    """
    common = set(maps[0].places).intersection(*(of_model.places for of_model in maps))
    if not common:
        raise BadInput(f"The models share no word of the text {' '.join(maps[0].words)[:40]!r}.")
    columns = [[of_model.places.index(place) for place in maps[0].places if place in common] for of_model in maps]
    scores = np.stack([of_model.last[numbers] for of_model, numbers in zip(maps, columns, strict=True)])
    elsewhere = np.array([of_model.elsewhere[-1] for of_model in maps])
    words = tuple(maps[0].words[column] for column in columns[0])
    places = tuple(maps[0].places[column] for column in columns[0])
    return WordMap(words, places, tuple(names), scores, elsewhere, _coarsest(maps))


def _map(explanation: Explanation, kind: Kind) -> WordMap:
    segments = explanation.example.segments
    units, scores = coarser(explanation.units, explanation.scores, kind, segments)
    places = tuple((units.segment[index], units.start[index], units.end[index]) for index in units.content)
    words = tuple(segments[segment][start:end] for segment, start, end in places)
    scores = scores.astype(np.float64)
    elsewhere = scores[:, units.special].sum(-1)
    rows, of_words = explanation.rows[0][1], scores[:, list(units.content)]
    is_unread = [united_reading(units, [index]) == "none" for index in units.content]
    unread = frozenset(place for place, reading in zip(places, is_unread, strict=True) if reading)
    return WordMap(words, places, rows, of_words, elsewhere, explanation.resolution, unread)


def _coarsest(maps: Sequence[WordMap]) -> float:
    return max(each.resolution for each in maps)


# The same of two texts: a row for each word of the first, a column for each of the second.


@dataclass(frozen=True, eq=False, repr=False)
class WordPairs:
    """The similarity of two texts as numbers of pairs of words, or of other units, from `word_pairs`.

    example: both texts. words: the units of each, in reading order. places: where each stands, (segment, start, end).
    matrix: [word of the first text, word of the second], in units of the similarity. value: the similarity. constant:
        what blank texts contribute; with the matrix' sum it is the value.
    function: "cosine" or "dot". model: its name. diagnostics: `completeness_gap`, |sum + constant - value| /
        |value - constant|, and `parity`.
    caveats: sentences on how far to trust it. settings: form, n_steps, baselines, unit.

    >>> model = pellucid.similarity("minilm")
    >>> pairs = pellucid.word_pairs(model, ("A red house.", "A crimson building."))
    >>> round(float(pairs.matrix.sum()) + pairs.constant, 1) == round(pairs.value, 1)
    True
    """

    example: Example
    words: tuple[tuple[str, ...], tuple[str, ...]]
    places: tuple[tuple[Place, ...], tuple[Place, ...]]
    matrix: np.ndarray
    value: float
    constant: float
    function: str
    model: str
    diagnostics: dict[str, float]
    caveats: tuple[str, ...]
    settings: dict[str, object]

    def __repr__(self) -> str:
        rows, columns = self.matrix.shape
        return f"<WordPairs {rows} x {columns} {self.settings['unit']}s, {self.function} similarity {self.value:.2f}>"

    def top(self, count: int = 5) -> list[tuple[str, str, float]]:
        """The pairs with the largest numbers of either sign, (word, word, number), strongest first."""
        order = np.argsort(-np.abs(self.matrix), axis=None, kind="stable")[: whole("count", count, 1, 10**9)]
        places = [np.unravel_index(place, self.matrix.shape) for place in order.tolist()]
        return [(self.words[0][row], self.words[1][column], float(self.matrix[row, column])) for row, column in places]
