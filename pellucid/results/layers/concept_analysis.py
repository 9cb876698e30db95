"""What a layer still holds of a word besides its concept: A_i, A_c and r, layer by layer.

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", equations 8 and 9.
"""

from dataclasses import dataclass

import numpy as np

from pellucid.base.kinds import renderers
from pellucid.results.explanation import Explanation
from pellucid.text.concept import Concept

GAUSSIAN, SUBSTITUTION = "gaussian", "substitution"
ROUNDING = 1e-12  # of r beside another r: squares of what states of float32 differ by when nothing has moved


@dataclass(frozen=True, eq=False)
class ConceptDensity:
    """The three numbers of equations 8 and 9 under one density p(x' | s), in nats.

    name: "gaussian" (the noise that the word can bear) or "substitution" (how far the state moves when x' replaces the
    word). word: A_i [layer], log p of the word less that of random words. concept: A_c [layer concept], the mean log p of the
    concept's words less that of random words. remaining: r [layer concept], A_i - A_c: what the state holds of the word
    beyond the concept; 0 for a concept that is the word alone.
    """

    name: str
    word: np.ndarray
    concept: np.ndarray
    remaining: np.ndarray

    @property
    def contrast(self) -> np.ndarray:
        """[layer]: the largest r divided by the smallest, 1 or more; nan where the smallest is not above 0, or rounding beside the largest."""
        low, high = self.remaining.min(1), self.remaining.max(1)
        return np.divide(high, low, out=np.full(len(low), np.nan), where=low > np.maximum(high * ROUNDING, 0))


@dataclass(frozen=True, eq=False)
class ConceptAnalysis:
    """One word of a text, and what each layer holds of it beyond each concept.

    explanation: the retained information of the whole text, a row a layer. segment, start, end: the word's characters
    [start, end). layers: their numbers. densities: the gaussian one, then that by substitution. n_random: random pieces of
    the vocabulary that stand for "all words". caveats: what to keep in mind.
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
        return next(one for one in self.densities if one.name == name)

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
            "densities": {one.name: self._density_record(one) for one in self.densities},
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
