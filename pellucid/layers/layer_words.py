"""Words of layers: which each layer keeps most, and which a model stopped using against the first."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.base.checks import at_least, quoted
from pellucid.base.errors import BadSetting
from pellucid.layers.record import LayerAnalysis, ModelLayers
from pellucid.results.bootstrap import NOT_NEGATIVE, difference_interval, t_interval
from pellucid.results.class_words import MIN_TEXTS
from pellucid.results.table import Interval
from pellucid.results.word_lists import word_form
from pellucid.results.word_map import WordMap, word_map

TRAININGS = 3  # from fewer seeds of training nothing follows about another training
FEW_TEXTS = 10  # of fewer, all words are listed
SPREAD = "seed_spread"  # the diagnostic: how far the seeds of the explanation's own search lie apart


@dataclass(frozen=True)
class LayerWord:
    """How much of one word form a row (a layer) keeps.

    word: casefolded, NFC. score: the mean over texts of its mean score in a text, with the 95 % t-interval over texts
    (nan bounds below two). count: how often it occurs. n_texts: in how many different texts.
    """

    word: str
    score: Interval
    count: int
    n_texts: int


@dataclass(frozen=True)
class WordChange:
    """How much less of a word a model uses than the first one, in the last row of each.

    first, second: the mean scores over the texts that have it. less: first - second with its 95 % t-interval, over
    texts, or over trainings where both models have three or more. beyond: what the difference must exceed: the spread
    of the explanations' own seeds (0 where the interval is over trainings).
    """

    word: str
    first: float
    second: float
    less: Interval
    beyond: float
    n_texts: int

    @property
    def verdict(self) -> str:
        """ "stopped using", "uses more" or "unclear"; each word is judged alone."""
        if self.less.low > self.beyond:
            return "stopped using"
        return "uses more" if self.less.high < -self.beyond else "unclear"


@dataclass(frozen=True)
class WordChanges:
    """The words of one model against the first: those that it uses less first. why_not: why there is no verdict, or
    "".
    """

    model: str
    words: tuple[WordChange, ...]
    why_not: str = ""

    @property
    def stopped(self) -> tuple[WordChange, ...]:
        """The words that the model clearly uses less."""
        return tuple(word for word in self.words if word.verdict == "stopped using")


def default_min_texts(analysis: LayerAnalysis) -> int:
    """3; of fewer than ten texts 1, since hardly a word is in three of them."""
    return MIN_TEXTS if len(analysis.texts) >= FEW_TEXTS else 1


def retained_words(
    analysis: LayerAnalysis, model: str | None = None, row: str | None = None, *, min_texts: int | None = None
) -> tuple[LayerWord, ...]:
    """The word forms of one model's row, the highest mean first; row None: the last. Equal texts count as they came.

    min_texts: words of fewer texts are left out; None: 3, and of fewer than ten texts 1. Raises `BadSetting` for a row
    that is not there.
    """
    model_layers = analysis.model(model)
    row = model_layers.rows[-1] if row is None else row
    if row not in model_layers.rows:
        rows = ", ".join(model_layers.rows)
        raise BadSetting(f"There is no {analysis.row_kind} {quoted(row)} in {model_layers.name}; there are: {rows}.")
    bar = default_min_texts(analysis) if min_texts is None else min_texts
    at_least("min_texts", bar, 1)
    scores: dict[str, list[list[float]]] = defaultdict(list)
    for text in range(len(analysis.texts)):
        one_map = analysis.map(text, model_layers.name)
        if row in one_map.rows:
            for form, of_form in _by_form(one_map, one_map.rows.index(row)).items():
                scores[form].append(of_form)
    within = NOT_NEGATIVE if all(min(map(min, texts)) >= 0 for texts in scores.values()) else None  # as of information
    words = [
        LayerWord(form, t_interval(list(map(_mean, texts)), within), sum(map(len, texts)), len(texts))
        for form, texts in scores.items()
        if len(texts) >= bar
    ]
    return tuple(sorted(words, key=lambda word: (-word.score.mean, word.word)))


def words_changed(analysis: LayerAnalysis, *, min_texts: int | None = None) -> tuple[WordChanges, ...]:
    """For each further model, how much less it uses each word than the first, in the last row of each.

    Where both have three trainings or more, the interval is over trainings. Of one training each it is over texts, and
    a difference must also exceed the spread of the explanations' seeds; another training may differ. Between, and where
    scores have no common scale or no spread is known, there is no verdict and `why_not` says why.
    """
    first, *others = analysis.models
    return tuple(_changes(analysis, first, model, min_texts) for model in others)


def _changes(analysis: LayerAnalysis, first: ModelLayers, second: ModelLayers, min_texts: int | None) -> WordChanges:
    why_not = _why_not(analysis, first, second)
    if why_not:
        return WordChanges(second.name, (), why_not)
    bar = min(MIN_TEXTS, len(analysis.texts)) if min_texts is None else min_texts
    at_least("min_texts", bar, 1)
    over_trainings = len(first.seeds) >= TRAININGS
    sides = [_seed_scores(model) for model in (first, second)]
    spread = 0.0 if over_trainings else math.hypot(_spread(first) or 0.0, _spread(second) or 0.0)
    words = []
    for form in sides[0].keys() & sides[1].keys():
        first_scores, second_scores = _shared(sides[0][form], sides[1][form])
        if first_scores.shape[1] >= bar:
            less = (
                difference_interval(first_scores.mean(1), second_scores.mean(1))
                if over_trainings
                else t_interval((first_scores - second_scores)[0])
            )
            words.append(
                WordChange(
                    form, float(first_scores.mean()), float(second_scores.mean()), less, spread, first_scores.shape[1]
                )
            )
    return WordChanges(second.name, tuple(sorted(words, key=lambda word: (-word.less.mean, word.word))))


def _why_not(analysis: LayerAnalysis, first: ModelLayers, second: ModelLayers) -> str:
    if not analysis.measure:
        return (
            f"The scores of {analysis.method} have no scale that models share, so {second.name} is not compared with "
            f"{first.name}."
        )
    if analysis.row_kind != "layer":
        return f"Steps of {second.name} and {first.name} are not the same, so their words are not compared."
    trainings = [len(first.seeds), len(second.seeds)]
    if max(trainings) > 1 and min(trainings) < TRAININGS:
        return (
            f"{first.name} has {trainings[0]} and {second.name} {trainings[1]} trainings; the spread of trainings "
            f"needs {TRAININGS} of each."
        )
    if max(trainings) == 1 and (_spread(first) is None or _spread(second) is None):
        return f"The explanations carry no {SPREAD}, so no difference can be told from chance."
    return ""


def _spread(model: ModelLayers) -> float | None:
    """The root mean square of the explanations' spreads over seeds; None where one has none."""
    spreads = [explanation.diagnostics.get(SPREAD, math.nan) for seed in model.seeds for explanation in seed]
    if any(math.isnan(spread) for spread in spreads):
        return None
    return math.sqrt(math.fsum(spread**2 for spread in spreads) / len(spreads))


def _seed_scores(model: ModelLayers) -> dict[str, dict[int, list[float]]]:
    """Word form -> number of the text -> the mean score in the last row, one a training."""
    scores: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for seed in model.seeds:
        for index, explanation in enumerate(seed):
            for form, of_form in _by_form(word_map(explanation), -1).items():
                scores[form][index].append(_mean(of_form))
    return scores


def _shared(first: dict[int, list[float]], second: dict[int, list[float]]) -> tuple[np.ndarray, np.ndarray]:
    """[training text] of both sides, for the texts in which both have the word."""
    texts = sorted(first.keys() & second.keys())
    return tuple(np.array([side[text] for text in texts], ndmin=2).T for side in (first, second))  # type: ignore[return-value]


def _by_form(text_map: WordMap, row: int) -> dict[str, list[float]]:
    """Word form -> the scores of its occurrences in one row."""
    scores: dict[str, list[float]] = defaultdict(list)
    for word, score in zip(text_map.words, text_map.scores[row].tolist(), strict=True):
        scores[word_form(word)].append(score)
    return scores


def _mean(scores: Sequence[float]) -> float:
    return math.fsum(scores) / len(scores)
