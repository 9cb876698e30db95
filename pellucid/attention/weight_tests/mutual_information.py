"""How much a word's state says of the word: mutual information of both, grouped by mini-batch k-means.

Tutek & Šnajder (2020), "Staying True to Your Word", section 3.4, after Voita, Sennrich & Titov (2019), "The Bottom-up
Evolution of Representations in the Transformer", section 4. The estimate is at most the words' entropy, grows with the
number of groups and falls with the number of states: compare it only at equal numbers, and beside the value of shuffled
pairs (corrections.md A4.9).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from pellucid.base.checks import at_least, one_of
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.run.batch import Row
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.trace import Trace, Want
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL

# The words of many texts with the vectors that go into a model's encoder and the states that come out.


@dataclass(frozen=True, eq=False)
class WordStates:
    """Occurrences of words, in the order of the texts.

    words: [occurrence], the number of the word. vectors: [word width], one a word, since a word's vector is the same
    wherever it stands. states: [occurrence state width]. unit: "word" or "piece", what a word is here. Both in single
    precision.
    """

    words: Tensor
    vectors: Tensor
    states: Tensor
    unit: str

    def __len__(self) -> int:
        return len(self.words)

    @property
    def counts(self) -> Tensor:
        """[word]: how often each occurs."""
        return self.words.bincount(minlength=len(self.vectors))

    def among(self, words: Tensor) -> "WordStates":
        """The occurrences of these words [word] alone, which are numbered anew in this order."""
        numbers = torch.full((len(self.vectors),), -1).index_put((words,), torch.arange(len(words)))[self.words]
        return WordStates(numbers[numbers >= 0], self.vectors[words], self.states[numbers >= 0], self.unit)

    def sample(self, most: int, seed: int) -> "WordStates":
        """At most so many occurrences, drawn without replacement; all words keep their numbers."""
        if len(self) <= most:
            return self
        draw = torch.randperm(len(self), generator=torch.Generator().manual_seed(seed))[:most].sort().values
        return WordStates(self.words[draw], self.vectors, self.states[draw], self.unit)


def word_states(model: Model, examples: Sequence[Example]) -> WordStates:
    """The texts' words by one forward pass a text.

    Of a model with weights of units, states and units are those that its pooler reads: what it retains of the word
    vectors is in them, and the state of a word is the mean of its pieces', as is its vector. Of other models they are
    the last layer's states, piece by piece. Special tokens are left out. Words are told apart by their pieces, as the
    model reads them. Raises `ModelCannot` for a model that shows no states, and for texts that it reads in windows.
    """
    if not model.capabilities & {"unit_weights", "hidden_states"}:
        raise ModelCannot(
            f"{model.name} shows no hidden states, of which mutual information is computed; give a network, or a model "
            f"trained by pellucid."
        )
    rows = model.encode(examples).rows
    if any(row.windows for row in rows):
        raise ModelCannot(f"{model.name} reads some texts in windows, each with states of its own; give shorter texts.")
    collected: dict[int, tuple[list[tuple[int, ...]], Tensor, Tensor]] = {}
    unit = "piece"
    want = Want(hidden="unit_weights" not in model.capabilities)
    for pack in scheduler_for(model).packs_of(rows):
        trace = model.trace([rows[index] for index in pack], want)
        unit = "piece" if trace.units is None else trace.units.unit
        for pack_index, index in enumerate(pack):
            collected[index] = _of_row(rows[index], trace, pack_index)
    numbers: dict[tuple[int, ...], int] = {}
    vectors: list[Tensor] = []
    words: list[int] = []
    for index in range(len(rows)):
        for word, vector in zip(*collected[index][:2], strict=True):
            if word not in numbers:
                numbers[word] = len(vectors)
                vectors.append(vector)
            words.append(numbers[word])
    states = [collected[index][2] for index in range(len(rows))]
    return WordStates(torch.tensor(words), torch.stack(vectors), torch.cat(states), unit)


def _of_row(row: Row, trace: Trace, pack_index: int) -> tuple[list[tuple[int, ...]], Tensor, Tensor]:
    """A row's words as tuples of ids, their vectors [word width] and states [word state width]."""
    units = trace.units
    pieces_of_words = _pieces_of_units(row, "piece" if units is None else units.unit)
    embeddings = trace.embeddings[pack_index].detach().float().cpu()
    vectors = torch.stack([embeddings[pieces].mean(0) for pieces in pieces_of_words])
    if units is None:
        states = trace.hidden[-1][pack_index, [pieces[0] for pieces in pieces_of_words]]
    else:
        states = units.states[pack_index, units.runs[pack_index] >= 0]
    words = [tuple(row.ids[piece] for piece in pieces) for pieces in pieces_of_words]
    return words, vectors, states.detach().float().cpu()


def _pieces_of_units(row: Row, unit: str) -> list[list[int]]:
    """[unit piece]: the numbers of each unit's pieces; a new word begins where the number of the word changes."""
    units: list[list[int]] = []
    before = SPECIAL
    for piece, (word, segment) in enumerate(zip(row.word_index, row.segments, strict=True)):
        if segment != SPECIAL:
            if unit == "piece" or word != before:
                units.append([])
            units[-1].append(piece)
        before = word
    return units


Vocabulary = Literal["most_frequent", "random_sample"]
Grouping = Literal["separate", "joint", "identity"]
Groups = NDArray[np.int64]  # [occurrence]: the number of the group that it is in
FEWEST = 2  # words: one alone has no information to give
STARTS = 3  # times the groups: from so many vectors the first centres are taken
PASSES = 3  # over all states: the groups change little after the first
SCALING = 0.75  # the exponent of counts in a random sample


@dataclass(frozen=True)
class MutualInformation:
    """information: of the words' groups and the states', in nats, 0 to `entropy`.

    entropy: of the words themselves. shuffled: the information when each state is given to another word: what the
    estimate is too large by where there is none. words, states: how many there were.
    """

    information: float
    entropy: float
    shuffled: float
    words: int
    states: int

    @property
    def share(self) -> float:
        """Of the words' entropy, 0 to 1, which can be compared between vocabularies; nan where all are one word."""
        return self.information / self.entropy if self.entropy else float("nan")


def mutual_information(
    occurrences: WordStates,
    *,
    vocabulary: Vocabulary = "most_frequent",
    grouping: Grouping = "separate",
    n_words: int = 1000,
    n_groups: int = 1000,
    n_states: int = 200_000,
    batch_size: int = 1000,
    seed: int = 0,
) -> MutualInformation:
    """In nats; the paper does not say the base of its logarithm.

    vocabulary: "most_frequent" words, or a "random_sample" without replacement, each in proportion to its count to the
    power of 3/4 (corrections.md A4.15). n_words: how many; all where there are fewer.
    grouping: "separate", word vectors and states are grouped apart, so they may have different widths; "joint",
    together; "identity", each word is its own group. Word vectors are grouped once a word, weighted by its count: with
    as many groups as words "separate" and "identity" are the same.
    n_groups: of k-means; no more than there are states. n_states: the most that are used, drawn at random; the paper
        has a million.
    batch_size: of k-means; the paper's is 100, with which 1,000 groups take far longer.
    Raises `BadInput` for fewer than two words, `BadSetting` for widths that cannot be grouped together.
    """
    one_of("vocabulary", vocabulary, get_args(Vocabulary))
    one_of("grouping", grouping, get_args(Grouping))
    for name, value in (("n_words", n_words), ("n_groups", n_groups), ("n_states", n_states)):
        at_least(name, value, FEWEST)
    at_least("batch_size", batch_size, 1)
    sampled_words = most_frequent if vocabulary == "most_frequent" else random_sample
    sample = occurrences.among(sampled_words(occurrences.counts, n_words, seed)).sample(n_states, seed)
    if int((sample.counts > 0).sum()) < FEWEST:
        raise BadInput(
            "Mutual information compares words, and the texts have fewer than two different ones; give more texts."
        )
    words, states = _groups(sample, grouping, _KMeans(n_groups, batch_size, seed))
    order = np.random.default_rng(seed).permutation(len(states))
    return MutualInformation(
        information_between(words, states),
        entropy_of(sample.words.numpy()),
        information_between(words, states[order]),
        int((sample.counts > 0).sum()),
        len(sample),
    )


def most_frequent(counts: torch.Tensor, most: int, seed: int = 0) -> torch.Tensor:
    """[word] counts -> the numbers of at most so many words, most frequent first; the seed is not read."""
    return counts.sort(descending=True, stable=True).indices[:most]


def random_sample(counts: torch.Tensor, most: int, seed: int = 0) -> torch.Tensor:
    """[word] counts -> the numbers of at most so many words, drawn in proportion to count^(3/4) without replacement."""
    generator = torch.Generator().manual_seed(seed)
    return torch.multinomial(counts.double() ** SCALING, min(most, len(counts)), generator=generator)


def information_between(first: Groups, second: Groups) -> float:
    """[occurrence], [occurrence] -> the mutual information of the two groupings, in nats, 0 to the lower of both
    entropies.
    """
    pairs = first.astype(np.int64) * (int(second.max()) + 1) + second
    information = entropy_of(first) + entropy_of(second) - entropy_of(pairs)
    return max(0.0, information)  # rounding can lead below 0


def entropy_of(groups: Groups) -> float:
    """[occurrence] -> -sum p log p over groups, in nats."""
    counts = np.unique(groups, return_counts=True)[1]
    shares = counts / counts.sum()
    return float(-(shares * np.log(shares)).sum())


@dataclass(frozen=True)
class _KMeans:
    n_groups: int
    batch_size: int
    seed: int

    def groups(self, vectors: NDArray[np.float32], counts: NDArray[np.float64] | None = None) -> Groups:
        """[vector width] -> [vector]: the group of each; counts: how often each stands for an occurrence."""
        if len(np.unique(vectors, axis=0)) <= self.n_groups and counts is not None:
            return np.asarray(np.unique(vectors, axis=0, return_inverse=True)[1]).reshape(-1)
        from sklearn.cluster import MiniBatchKMeans, kmeans_plusplus  # takes most of a second to import

        n_groups = min(self.n_groups, len(vectors))
        draws = np.random.default_rng(self.seed).permutation(len(vectors))[: STARTS * n_groups]
        # One trial a centre: the eight that MiniBatchKMeans makes take longer than all the rest, for the same groups.
        centres = kmeans_plusplus(vectors[draws], n_groups, random_state=self.seed, n_local_trials=1)[0]
        means = MiniBatchKMeans(
            n_groups,
            init=centres,
            batch_size=self.batch_size,
            max_iter=PASSES,
            random_state=self.seed,
            n_init=1,
        )
        return np.asarray(means.fit_predict(vectors, sample_weight=counts), dtype=np.int64)


def _groups(sample: WordStates, grouping: Grouping, means: _KMeans) -> tuple[Groups, Groups]:
    """[occurrence] each: the groups of the words and those of their states."""
    words, vectors, states = (values.numpy() for values in (sample.words, sample.vectors, sample.states))
    if grouping == "identity":
        return words, means.groups(states)
    if grouping == "separate":
        return means.groups(vectors, sample.counts.double().numpy())[words], means.groups(states)
    if vectors.shape[1] != states.shape[1]:
        raise BadSetting(
            f"grouping='joint' groups word vectors of {vectors.shape[1]} numbers together with states of "
            f"{states.shape[1]}; give grouping='separate' or 'identity'."
        )
    together = means.groups(np.concatenate([vectors[words], states]))
    return together[: len(words)], together[len(words) :]
