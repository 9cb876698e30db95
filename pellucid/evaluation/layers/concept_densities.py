"""Whether a state holds a word or only its concept: log densities of other words in its location.

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", equations 8 and 9; the paper
gives no p(x' | s), so two are here (corrections.md A3.7).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pellucid.base.errors import BadInput
from pellucid.base.wording import quoted
from pellucid.results.layers.concept_analysis import GAUSSIAN, SUBSTITUTION, ConceptDensity
from pellucid.run.batch import Batch
from pellucid.run.blank import generator_for
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import ResolvedState
from pellucid.run.model import Model
from pellucid.run.state_scale import StateFunction, state_function
from pellucid.text.concept import Concept
from pellucid.text.example import Example


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

    def pieces(self, batch: Batch, number: int, length: int) -> list[int]:
        """The pieces of one text of the batch that share characters with the word, which has so many characters there."""
        units = batch.units[number]
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
    for number, word in enumerate(words):
        pieces = location.pieces(batch, number, len(word))
        if not pieces:
            raise BadInput(
                f"The tokenizer of {model.name} has no piece for {quoted(word)}; leave it out of its concept."
            )
        ids = torch.tensor([batch.rows[number].ids[piece] for piece in pieces], device=model.device)
        vectors.append(model.embed(ids).detach().double().mean(0))
    return torch.stack(vectors)


def random_vectors(run: ForwardPass, count: int) -> Tensor:
    """[word width], in float64: embeddings of random pieces of the vocabulary, drawn from the text's content and the seed."""
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

    deviations: [width'], sigma_S. pieces: the word's, in the one text. shifts: [word width]. Words share passes as the model
    allows. The word itself moves nothing: its log is exactly 0, where two passes would differ by rounding.
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

    run: a pass of the one text. targets: one a layer. scales: for each layer sigma_S [width']. noise: [layer piece], sigma of
    each piece of the word. pieces: those pieces. word: [width], the word's vector. concepts: for each its words' vectors
    [word width]. random: [word width].
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
        means = np.array([[float(part.mean()) for part in one.cpu().split(sizes)] for one in logs])
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
    own = word_vectors(model, example, location, [text[location.start : location.end]])[0]
    vectors = [word_vectors(model, example, location, concept.words) for concept in concepts]
    return ConceptQuestion(
        run, targets, scales, noise[:, pieces], pieces, own, vectors, random_vectors(run, n_random)
    )
