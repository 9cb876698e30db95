"""What a layer still holds of a word besides its concept: log densities of other words, and A_i, A_c and r, layer by
layer.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput
from pellucid.base.kinds import renderers
from pellucid.results.explanation import Explanation
from pellucid.run.batch import Batch
from pellucid.run.blank import generator_for
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import ResolvedState
from pellucid.run.model import Model
from pellucid.run.state_scale import StateFunction, state_function
from pellucid.text.example import Example
from pellucid.text.lexicon import Concept

GAUSSIAN, SUBSTITUTION = "gaussian", "substitution"
ROUNDING = 1e-12  # of r beside another r: squares of what states of float32 differ by when nothing has moved


@dataclass(frozen=True, eq=False)
class ConceptDensity:
    """The three numbers of equations 8 and 9 under one density p(x' | s), in nats.

    name: "gaussian" (the noise that the word can bear) or "substitution" (how far the state moves when x' replaces the
    word). word: A_i [layer], log p of the word less that of random words. concept: A_c [layer concept], the mean log p
    of the concept's words less that of random words. remaining: r [layer concept], A_i - A_c: what the state holds of
    the word beyond the concept; 0 for a concept that is the word alone.
    """

    name: str
    word: np.ndarray
    concept: np.ndarray
    remaining: np.ndarray

    @property
    def contrast(self) -> np.ndarray:
        """[layer]: the largest r divided by the smallest, 1 or more; nan where the smallest is not above 0, or rounding
        beside the largest.
        """
        low, high = self.remaining.min(1), self.remaining.max(1)
        return np.divide(high, low, out=np.full(len(low), np.nan), where=low > np.maximum(high * ROUNDING, 0))


@dataclass(frozen=True, eq=False)
class ConceptAnalysis:
    """One word of a text, and what each layer holds of it beyond each concept.

    explanation: the retained information of the whole text, a row a layer. segment, start, end: the word's characters
    [start, end). layers: their numbers. densities: the gaussian one, then that by substitution. n_random: random pieces
    of the vocabulary that stand for "all words". caveats: what to keep in mind.
    """

    explanation: Explanation
    segment: int
    start: int
    end: int
    concepts: tuple[Concept, ...]
    layers: tuple[int, ...]
    densities: tuple[ConceptDensity, ...]
    n_random: int
    caveats: tuple[str, ...]

    @property
    def word(self) -> str:
        """The word as it stands in the text."""
        return self.explanation.example.segments[self.segment][self.start : self.end]

    def density(self, name: str) -> ConceptDensity:
        """The numbers under "gaussian" or "substitution"."""
        return next(density for density in self.densities if density.name == name)

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_concept_analysis").make(self)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_concept_analysis").make(self)

    def record(self) -> dict[str, object]:
        """Plain values for JSON, under the keys of `concepts --json`; None where there is no number."""
        explanation = self.explanation
        return {
            "id": explanation.example.id,
            "segments": list(explanation.example.segments),
            "word": self.word,
            "segment": self.segment,
            "start": self.start,
            "end": self.end,
            "state": explanation.target.output,
            "layers": list(self.layers),
            "concepts": {concept.name: list(concept.words) for concept in self.concepts},
            "random_words": self.n_random,
            "densities": {density.name: self._density_record(density) for density in self.densities},
            "settings": dict(explanation.settings),
            "seed": explanation.seed,
            "model": explanation.model,
            "model_hash": explanation.model_hash,
            "caveats": list(self.caveats),
        }

    def _density_record(self, density: ConceptDensity) -> dict[str, object]:
        names = [concept.name for concept in self.concepts]
        by_layer = lambda values: [dict(zip(names, row, strict=True)) for row in values.tolist()]  # noqa: E731
        return {
            "A_word": density.word.tolist(),
            "A_concept": by_layer(density.concept),
            "remaining": by_layer(density.remaining),
            "contrast": [None if value != value else value for value in density.contrast.tolist()],
        }


# Whether a state holds a word or only its concept: log densities of other words in its location.
#
# Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", equations 8 and 9; the
# paper gives no p(x' | s), so two are here (corrections.md A3.7).


@dataclass(frozen=True)
class WordInText:
    """A word of one example: characters [start, end) of a segment."""

    segment: int
    start: int
    end: int

    def replaced(self, example: Example, word: str) -> Example:
        """The example with another word there, without label and marks."""
        segments = list(example.segments)
        text = segments[self.segment]
        segments[self.segment] = text[: self.start] + word + text[self.end :]
        return Example(tuple(segments), id=example.id)

    def pieces(self, batch: Batch, text_index: int, length: int) -> list[int]:
        """The pieces of one text of the batch that share characters with the word, which has so many characters
        there.
        """
        units = batch.units[text_index]
        return [
            piece
            for piece in units.content
            if units.segment[piece] == self.segment
            and units.start[piece] < self.start + length
            and units.end[piece] > self.start
        ]


def word_vectors(model: Model, example: Example, location: WordInText, words: Sequence[str]) -> Tensor:
    """[word width], in float64: the mean embedding of each word's pieces, as the tokenizer cuts the word in this text.

    Raises `BadInput` for a word that the tokenizer makes nothing of.
    """
    batch = model.encode([location.replaced(example, word) for word in words])
    vectors = []
    for index, word in enumerate(words):
        pieces = location.pieces(batch, index, len(word))
        if not pieces:
            raise BadInput(
                f"The tokenizer of {model.name} has no piece for {quoted(word)}; leave it out of its concept."
            )
        ids = torch.tensor([batch.rows[index].ids[piece] for piece in pieces], device=model.device)
        vectors.append(model.embed(ids).detach().double().mean(0))
    return torch.stack(vectors)


def random_vectors(run: ForwardPass, count: int) -> Tensor:
    """[word width], in float64: embeddings of random pieces of the vocabulary, drawn from the text's content and the
    seed.
    """
    vocabulary = run.model.vocabulary
    generator = generator_for(run.batch.rows[0], "concepts", run.seed)
    ids = vocabulary[torch.randint(len(vocabulary), (count,), generator=generator).to(vocabulary.device)]
    return run.model.embed(ids.to(run.model.device)).detach().double()


def gaussian(shifts: Tensor, deviations: Tensor) -> Tensor:
    """[word]: log p(x' | s) less log p(x | s), for x' = x + shift and noise N(0, sigma²) of each piece.

    shifts: [word width]. deviations: [piece], sigma of each piece of the word. All pieces move by the same shift.
    """
    return -shifts.square().sum(-1) * (1 / (2 * deviations.to(shifts).square())).sum()


def substitution(phi: StateFunction, deviations: Tensor, pieces: Sequence[int], shifts: Tensor) -> Tensor:
    """[word]: -|Phi(x with x') - s|² / (2 sigma_S²), summed over the dimensions of all explained states.

    deviations: [width'], sigma_S. pieces: the word's, in the one text. shifts: [word width]. Words share passes as the
    model allows. The word itself moves nothing: its log is exactly 0, where two passes would differ by rounding.
    """
    scheduler, state = phi.run.scheduler, phi.states[0].double()

    def logs(words: list[int]) -> Tensor:
        points = phi.points[:1].repeat(len(words), 1, 1)
        points[:, list(pieces)] += shifts[words][:, None].to(points)
        moved = phi([0] * len(words), points).double() - state
        return -(moved / deviations.to(moved)).square().sum((1, 2)) / 2

    packs = scheduler.packs_of([phi.run.batch.rows[0]] * len(shifts))  # of equal rows, so their order stays
    with torch.no_grad():
        every = torch.cat([part for pack in packs for part in scheduler.halving(pack, logs)])
    return every.masked_fill((shifts == 0).all(-1).to(every.device), 0)


@dataclass(frozen=True, eq=False)
class ConceptQuestion:
    """One word, what stands in its location, and the states that are asked.

    run: a pass of the one text. targets: one a layer. scales: for each layer sigma_S [width']. noise: [layer piece],
    sigma of each piece of the word. pieces: those pieces. word: [width], the word's vector. concepts: for each its
    words' vectors [word width]. random: [word width].
    """

    run: ForwardPass
    targets: Sequence[ResolvedState]
    scales: Sequence[Tensor]
    noise: Tensor
    pieces: Sequence[int]
    word: Tensor
    concepts: Sequence[Tensor]
    random: Tensor

    def densities(self) -> tuple[ConceptDensity, ConceptDensity]:
        """The numbers of equations 8 and 9 for every layer, by both densities."""
        shifts = torch.cat([self.random, *self.concepts]) - self.word
        by_noise, by_state = [], []
        for layer, target in enumerate(self.targets):
            phi = state_function(self.run, target)
            by_state.append(substitution(phi, self.scales[layer], self.pieces, shifts))
            by_noise.append(gaussian(shifts, self.noise[layer]))
        return self._density(GAUSSIAN, by_noise), self._density(SUBSTITUTION, by_state)

    def _density(self, name: str, logs: Sequence[Tensor]) -> ConceptDensity:
        """logs: for each layer [random and concept words], log p less that of the word itself."""
        sizes = [len(self.random), *map(len, self.concepts)]
        means = np.array([[float(part.mean()) for part in log.cpu().split(sizes)] for log in logs])
        word, concept = -means[:, 0], means[:, 1:] - means[:, :1]
        return ConceptDensity(name, word, concept, 0.0 - means[:, 1:])  # never -0


def concept_question(
    run: ForwardPass,
    targets: Sequence[ResolvedState],
    scales: Sequence[Tensor],
    noise: Tensor,
    location: WordInText,
    concepts: Sequence[Concept],
    n_random: int,
) -> ConceptQuestion:
    """The question for one text. noise: [layer unit], sigma of every piece of the text."""
    example, model = run.batch.examples[0], run.model
    text = example.segments[location.segment]
    pieces = location.pieces(run.batch, 0, location.end - location.start)
    own_vector = word_vectors(model, example, location, [text[location.start : location.end]])[0]
    vectors = [word_vectors(model, example, location, concept.words) for concept in concepts]
    return ConceptQuestion(
        run, targets, scales, noise[:, pieces], pieces, own_vector, vectors, random_vectors(run, n_random)
    )
