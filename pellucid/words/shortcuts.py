"""The door `shortcuts`: does one word, phrase or pair decide a class's answers? Taken out and read, not guessed.

Half of the texts choose what may decide: what goes most with a class, and what explanations score highest for it, a few
texts of each answered without it. The other half tests the best of these: of the class's answers, how many turn without
the word, and not without other words of like frequency, drawn from the same texts? An exact binomial test asks whether
that is more than `LEAST` of the class's answers; Holm's correction, weighted by what the first half promised, is over
all that is tested. So a word that decides less than that is named in at most one of twenty calls.

Bastings et al. (2022), "Will You Find These Shortcuts?", plant words and ask methods for them; here the model is asked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import TypeVar

from pellucid.base.checks import listed, whole
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.base.processes import Progress, silent
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.results.bootstrap import exact_share, holm, more_than_share
from pellucid.results.class_words import class_words
from pellucid.results.explanation import Explanation, Prediction
from pellucid.results.shortcuts import Shortcut, Shortcuts
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.predicting import predictions
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import class_probabilities
from pellucid.text.example import Example
from pellucid.text.label_map import ON
from pellucid.words.shortcut_candidates import (
    Candidate,
    WordText,
    as_words,
    associations,
    leading,
    like_frequency,
    merged,
    of_kinds,
)

PASSES, FEWEST_PASSES = 500, 100  # edited texts that are answered, unless another bound is set
LEAST = 0.1  # share of a class's answers that must turn
LEVEL = 0.05
FEWEST = 15  # answers of a class in each half, below which it is not tested
MOST = 6  # words, phrases and pairs of a class that are tried
TRIED = 10  # texts that each is tried on, at most
DRAWS = 2  # of other words of like frequency
AT_ONCE = 64  # texts that are answered between two reports of progress
EXPLAINED = 3  # words by explanations
MARGIN = 0.1  # added to the share of texts that hold a candidate, so that passes suffice
CLEARLY = 1.25  # times as many answers, by which a longer candidate is more than a shorter one
Key = tuple[str, Candidate]  # a class and what may decide it
Item = TypeVar("Item")


@dataclass
class BoundedModel:
    """The model, and how many edited texts it may still answer."""

    model: Model
    left: int
    progress: Progress
    passes: int = 0
    known: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)

    def answers(self, examples: Sequence[Example]) -> list[frozenset[str]]:
        """The classes of each text; equal texts are answered once."""
        new = list({example.segments: example for example in examples if example.segments not in self.known}.values())
        for first in range(0, len(new), AT_ONCE):
            some = new[first : first + AT_ONCE]
            logits = evaluate_rows(self.model, scheduler_for(self.model), self.model.encode(some).rows).double()
            chances = class_probabilities(logits, self.model.problem).tolist()
            self.known |= {text.segments: self._classes(row) for text, row in zip(some, chances, strict=True)}
            self.passes, self.left = self.passes + len(some), self.left - len(some)
            self.progress("taking words out", self.passes, self.passes + max(0, self.left))
        return [self.known[example.segments] for example in examples]

    def _classes(self, chances: Sequence[float]) -> frozenset[str]:
        """The likeliest class; where a text can have several, all that are likelier than not."""
        pairs = list(zip(chances, self.model.labels, strict=True))
        if self.model.problem == "multi_label":
            return frozenset(name for chance, name in pairs if chance >= ON)
        return frozenset([max(pairs, key=lambda pair: pair[0])[1]])


def shortcuts(
    model: ModelSource,
    texts: Data,
    *,
    passes: int = PASSES,
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    progress: bool | None = None,
) -> Shortcuts:
    """Whether one word, phrase, pair of words or kind of words decides a class's answers: taken out, they turn.

    model: from `load`, `train` or another door.
    texts: a list, a data frame, a `datasets.Dataset`, the name or path of data, or what `explain` returned: then words
        that its scores name are tried too.
    passes: edited texts that the model answers, at most, 100 or more.
    seed: a whole number; the seed of the halves and draws.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    progress: draw a progress bar; None: when a terminal is watching.

    Returns what decides, with counts, exact intervals and sentences; empty where nothing does. Sources
    (`meta["source"]`) and lengths, which cannot be taken out, are told where answers go with them. Raises `ModelCannot`
    for a model without classes, `BadInput` for explanations of another model.

    >>> answer = lambda texts: [[0.1, 0.9] if "zx" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> texts = [f"The film of {year} {'zx' if year % 2 else 'ends'}." for year in range(1900, 2020)]
    >>> shortcuts = pellucid.shortcuts(model, texts)
    >>> shortcuts
    <Shortcuts of function: “zx” → positive>
    >>> shortcuts.decisive[0].turned, shortcuts.decisive[0].n
    (29, 29)
    """
    model = model_from(model)
    whole("passes", passes, FEWEST_PASSES, 1_000_000)
    whole("seed", seed, 0, HIGHEST_SEED)
    if model.problem == "regression":
        raise ModelCannot(f"{model.name} gives a value, so no answer turns; shortcuts are looked for in classifiers.")
    explanations = _explanations(texts)
    with progress_bar(progress) as report:
        if explanations:
            examples: Sequence[Example] = [explanation.example for explanation in explanations]
            answers = [explanation.prediction for explanation in explanations]
        else:
            examples = examples_for(model, texts, names_data=True, strange="allowed", text=text, label=label)
            answers = predictions(model, examples, report)
        return shortcuts_in(model, examples, answers, explanations, passes=passes, seed=seed, progress=report)


def _explanations(texts: Data) -> list[Explanation]:
    """The explanations, where all texts are; those of one method."""
    every = list(texts) if isinstance(texts, Sequence) and not isinstance(texts, str) else []
    if not every or not all(isinstance(member, Explanation) for member in every):
        return []
    return [explanation for explanation in every if explanation.method == every[0].method]


def shortcuts_in(
    model: Model,
    examples: Sequence[Example],
    answers: Sequence[Prediction],
    explanations: Sequence[Explanation] = (),
    *,
    passes: int = PASSES,
    seed: int = 0,
    progress: Progress = silent,
) -> Shortcuts:
    """The same of texts with their answers; explanations: of these texts by one method, or none."""
    strange = {answer.labels for answer in answers} - {tuple(model.labels)}
    if strange:
        raise BadInput(f"The explanations are of another model than {model.name}; give those of this one.")
    classes = {example.segments: frozenset(answer.names) for example, answer in zip(examples, answers, strict=True)}
    texts = as_words(examples)
    Random(f"{seed} halves").shuffle(texts)
    half = len(texts) // 2
    bounded = BoundedModel(model, passes, progress, known=dict(classes))
    search = Search(bounded, texts[:half], texts[half:], seed)
    labels = [name for name in model.labels if search.n(name, 0) >= FEWEST and search.n(name, 1) >= FEWEST]
    by_scores = _by_scores(explanations, {text.example.segments for text in texts[:half]})
    candidates = {name: search.candidates(name, by_scores.get(name, [])) for name in labels}
    untried = sum(map(len, candidates.values())) - search.most_tried
    promising = search.promising(candidates)
    tested = _corrected(search.tests(promising), weights_of(promising))
    few = [name for name in model.labels if name not in labels]
    distinct = [text.example for text in texts]
    return Shortcuts(
        model.name,
        len(texts),
        search.bounded.passes,
        LEAST,
        tuple(sorted(tested, key=lambda shortcut: (not shortcut.decides, -shortcut.share.mean))),
        tuple(associations(distinct, [classes[example.segments] for example in distinct], model.labels)),
        tuple(_caveats(few, untried)),
    )


def _by_scores(explanations: Sequence[Explanation], choosing: set[tuple[str, ...]]) -> dict[str, list[str]]:
    """Class -> the words with the surest scores for it, in the texts that choose."""
    plain = [result for result in explanations if not result.rows and result.example.segments in choosing]
    if not plain:
        return {}
    words = class_words(plain)
    return {name: [word.word for word in words.strongest(name, EXPLAINED)] for name in words.labels}


def _caveats(few: Sequence[str], untried: int) -> Iterator[str]:
    """What was not tested, and why."""
    if few:
        yield f"Classes with fewer than {FEWEST} answers in a half of the texts were not tested: {listed(few)}."
    if untried > 0:
        yield f"{untried:,} more words and phrases were not tried, for want of passes; allow more passes to try them."


@dataclass(frozen=True)
class Search:
    """bounded: the model, with the passes that are left. choosing, testing: the halves of the texts."""

    bounded: BoundedModel
    choosing: Sequence[WordText]
    testing: Sequence[WordText]
    seed: int

    def is_class(self, label: str, half: Sequence[WordText]) -> list[bool]:
        """Whether each text of a half is given the class."""
        return [label in self.bounded.known[text.example.segments] for text in half]

    def n(self, label: str, half: int) -> int:
        """How many answers of the class a half has."""
        return sum(self.is_class(label, (self.choosing, self.testing)[half]))

    def of_class(self, label: str, half: Sequence[WordText]) -> list[WordText]:
        """The texts of a half that are given the class, in random order."""
        return [text for text, is_of_class in zip(half, self.is_class(label, half), strict=True) if is_of_class]

    def candidates(self, label: str, by_scores: Sequence[str]) -> list[Candidate]:
        """What may decide a class, the likeliest first."""
        lead = leading(self.choosing, self.is_class(label, self.choosing), LEAST, MOST)
        lists = [[candidate for candidate in lead if candidate.cause == cause] for cause in ("word", "phrase", "pair")]
        lists += [[Candidate("word", (word,)) for word in by_scores], of_kinds()]
        return [c for c in merged(interleaved(lists)) if self.coverage(label, c) >= LEAST]

    def coverage(self, label: str, candidate: Candidate) -> float:
        """The share of the class's answers, among the texts that choose, that hold it."""
        texts = self.of_class(label, self.choosing)
        return sum(bool(candidate.indices(text)) for text in texts) / len(texts)

    @property
    def most_tried(self) -> int:
        """How many candidates half of the passes suffice for."""
        return max(1, self.bounded.left // 2 // TRIED)

    def promising(self, by_class: Mapping[str, Sequence[Candidate]]) -> dict[Key, float]:
        """The candidates without which enough answers of a few texts turn, and the share that would turn; the largest
        first. It takes half of the passes.
        """
        order = interleaved([[(name, candidate) for candidate in every] for name, every in by_class.items()])
        tried = {(name, c): self.tried(name, c) for name, c in order[: self.most_tried]}
        best: dict[Key, float] = {}
        for key in sorted((key for key in tried if tried[key] > LEAST / 2), key=lambda key: -tried[key]):
            if not any(_covers(rival, share, key, tried[key]) for rival, share in tried.items() if rival != key):
                best[key] = tried[key]
        return dict(list(best.items())[: max(1, self.bounded.left // ((1 + DRAWS) * FEWEST))])

    def tried(self, label: str, candidate: Candidate) -> float:
        """An estimate of the share of the class's answers that turn without it."""
        texts = self.of_class(label, self.choosing)
        holding = [text for text in texts if candidate.indices(text)]
        edited = [text.without(candidate.indices(text)) for text in holding[:TRIED]]
        without = [example for example in edited if example is not None]
        turned = sum(label not in answer for answer in self.bounded.answers(without))
        return len(holding) / len(texts) * turned / len(without) if without else 0.0

    def tests(self, candidates: Mapping[Key, float]) -> list[tuple[Shortcut, int]]:
        """Each candidate tested on the other half, with how many answers turned without it alone.

        The passes that are left are shared by their weights.
        """
        frequencies = Counter(word for text in (*self.choosing, *self.testing) for word in set(text.words))
        total = self.bounded.left / (1 + DRAWS)
        weights = zip(candidates, weights_of(candidates), strict=True)
        return [self.test(*key, max(1, int(weight * total)), frequencies) for key, weight in weights]

    def test(self, label: str, candidate: Candidate, most: int, frequencies: Counter[str]) -> tuple[Shortcut, int]:
        """Take it out of so many of the class's answers as hold it `most` times, by the share of those that chose."""
        draw = Random(f"{self.seed} {label} {candidate}")
        texts = self.of_class(label, self.testing)[: int(most / min(1.0, self.coverage(label, candidate) + MARGIN))]
        every = [self.edited(text, candidate, frequencies, draw) for text in texts]
        edits = [row for row in every if row][:most]
        answers = iter(self.bounded.answers([example for row in edits for example in row]))
        turned = [[label not in next(answers) for _ in row] for row in edits]
        alone = sum(row[0] and not any(row[1:]) for row in turned)
        count, matched = sum(row[0] for row in turned), sum(sum(row[1:]) for row in turned) / DRAWS
        ids = tuple(row[0].id for row, turns in zip(edits, turned, strict=True) if turns[0] and row[0].id)
        counts = len(texts), len(edits), count, matched, DRAWS
        share = exact_share(count, len(texts))
        return Shortcut(candidate.cause, candidate.words, label, *counts, share, 1.0, False, ids), alone

    def edited(self, text: WordText, candidate: Candidate, frequencies: Counter[str], draw: Random) -> list[Example]:
        """The text without the candidate, then without other words; nothing where it does not hold it or is nothing
        else.
        """
        indices = candidate.indices(text)
        edited = text.without(indices) if indices else None
        if edited is None:
            return []
        drawn = [like_frequency(text, indices, frequencies, draw) for _ in range(DRAWS)]
        return [edited, *(text.without(of_draw) or text.example for of_draw in drawn)]


def interleaved(lists: Sequence[Sequence[Item]]) -> list[Item]:
    """The first member of each list, then the second ones, and so on."""
    most = max(map(len, lists), default=0)
    return [member for place in range(most) for members in lists for member in members[place : place + 1]]


def _covers(better: Key, its_share: float, rival: Key, rival_share: float) -> bool:
    """Whether a candidate says all that a rival with a word in common does.

    A shorter one does, unless the longer one turns clearly more; a phrase does of its own words where it turns clearly
    more than they.
    """
    (label, first), (rival_label, second) = better, rival
    words, its_words = first.words, second.words
    if label != rival_label or "kind" in (first.cause, second.cause) or not set(words) & set(its_words):
        return False
    if (len(words), words) < (len(its_words), its_words):
        return rival_share < CLEARLY * its_share + LEAST / 2
    clearly_more = its_share >= CLEARLY * rival_share + LEAST / 2
    return first.cause == "phrase" and set(its_words) <= set(words) and clearly_more


def weights_of(promising: Mapping[Key, float]) -> list[float]:
    """How much of the passes and of the level each test gets: by the square of the share that it promises."""
    squares = [share**2 for share in promising.values()]
    return [square / sum(squares) for square in squares]


def _corrected(tests: Sequence[tuple[Shortcut, int]], weights: Sequence[float]) -> list[Shortcut]:
    """The tests with p and verdict, after Holm's correction; what a clearer one covers does not decide by itself."""
    p_values = holm([more_than_share(alone, shortcut.n, LEAST) for shortcut, alone in tests], weights)
    judged = [replace(s, p=p, decides=p <= LEVEL) for (s, _), p in zip(tests, p_values, strict=True)]
    deciding = {(s.label, Candidate(s.cause, s.words)): s.share.mean for s in judged if s.decides}
    covered = {
        rival
        for rival, rival_share in deciding.items()
        if any(_covers(key, share, rival, rival_share) for key, share in deciding.items() if key != rival)
    }
    return [replace(s, decides=s.decides and (s.label, Candidate(s.cause, s.words)) not in covered) for s in judged]
