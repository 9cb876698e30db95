"""What concepts do to answers: contributions by gradients, and passes that are finished from changed states."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from pellucid.attribution.shared.paths import nodes_of
from pellucid.base.errors import ModelCannot
from pellucid.base.memory import index_on
from pellucid.base.packages import cached_property
from pellucid.discovery.dictionaries import Dictionary
from pellucid.discovery.states import Level, level_units, unit_states
from pellucid.run.forward_pass import ForwardPass, Points, sums_at
from pellucid.run.model import Model, plain_logits
from pellucid.run.packing import scheduler_for
from pellucid.run.parity import check_parity
from pellucid.run.rounding import widened
from pellucid.run.target import ResolvedTarget, Target
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL, Units

NODES = 32  # of the path from no concept to all of them
At = Callable[[list[int]], Tensor]  # numbers of points -> [point piece width]


@dataclass(frozen=True, eq=False)
class ConceptPass:
    """Texts that fit one window, with the concepts of their words, piece by piece.

    run: the pass of the texts. activations: [example piece concept], those of the unit that a piece is of, 0 at special
    tokens. rest: [example piece width], what stays where the concepts take the place of states: special tokens' own
    states; of a text's state what its pieces differ from it by. of_units: for each text [unit concept]. units: its
    words or pieces.
    """

    run: ForwardPass
    layer: int
    dictionary: Dictionary
    activations: Tensor
    rest: Tensor
    of_units: tuple[np.ndarray, ...]
    units: tuple[Units, ...]

    @cached_property
    def states(self) -> Tensor:
        """[example piece width]: the layer's own states."""
        return widened(self.run.state(self.layer))

    @cached_property
    def content(self) -> Tensor:
        """[example piece 1]: 1 at text, 0 at special tokens and padding."""
        return self.run.content[..., None].to(self.states)

    @cached_property
    def _offset(self) -> Tensor:
        return torch.from_numpy(self.dictionary.offset).to(self.states) * self.content + self.rest

    @cached_property
    def _atoms(self) -> Tensor:
        return torch.from_numpy(self.dictionary.atoms).to(self.states)

    @cached_property
    def predicted(self) -> ResolvedTarget:
        """The class that the model answers, as the explained value its logit."""
        return self.target("predicted")

    def target(self, which: str | int) -> ResolvedTarget:
        """The logit of a class as the explained value of each text."""
        model = self.run.model
        return Target(which).resolve(self.run.batch.examples, self.run.logits, model.labels, model.problem)

    def along(self, share: float) -> Tensor:
        """[example piece width]: states made of that share of all concepts, from 0, none, to 1, the reconstruction."""
        return self._offset + share * (self.activations @ self._atoms)

    def without(self, concept: int) -> Tensor:
        """[example piece width]: the states less one concept's part."""
        return self.states - self.activations[..., concept, None] * self._atoms[concept]

    def beside(self, concept: int, direction: Tensor) -> Tensor:
        """[example piece width]: the states less as much along another direction [width] of length 1."""
        size = self.activations[..., concept, None] * self._atoms[concept].norm()
        return self.states - size * direction.to(self.states)

    def logits_at(self, points: Sequence[Callable[[], Tensor]]) -> Tensor:
        """[point example logit]: the answers where the pass goes on from other states, without a graph."""
        return torch.stack([self.run.at(point(), self.layer).logits.cpu().double() for point in points])

    def values_at(self, points: Sequence[Callable[[], Tensor]]) -> Tensor:
        """[point example]: the logit of the answered class there."""
        return torch.stack([self.predicted.values(logits) for logits in self.logits_at(points)])

    def by_gradient(self, target: ResolvedTarget) -> Tensor:
        """[example concept]: activation times the gradient along the concept, summed over the pieces."""
        return self._shared(self.run.gradient(target, self.layer, remember=False))

    def by_path(self) -> Tensor:
        """[example concept]: the answered logit's rise from no concept to the reconstruction, shared among concepts.

        Sundararajan, Taly & Yan (2017), "Axiomatic Attribution for Deep Networks", equation 1, in the space of
        concepts: the activation times the mean gradient along the concept.
        """
        nodes, weights = (part.to(self.states) for part in path_nodes())
        owners = torch.arange(len(self.states), device=self.states.device).repeat_interleave(NODES)
        node = torch.arange(NODES, device=self.states.device).repeat(len(self.states))
        whole = self.activations @ self._atoms

        def at(numbers: list[int]) -> Tensor:
            which = index_on(owners.device, numbers)
            return self._offset[owners[which]] + nodes[node[which], None, None] * whole[owners[which]]

        def add(total: Tensor, numbers: list[int], gradient: Tensor) -> None:
            which = index_on(owners.device, numbers)
            weighted = gradient.to(total) * weights[node[which], None, None]
            total[:, : gradient.shape[1]].index_add_(0, owners[which], weighted)

        start = lambda: torch.zeros_like(self.states)  # noqa: E731
        return self._shared(sums_at(self.run, self.predicted, Points(owners.tolist(), at, self.layer), start, add))

    def _shared(self, gradient: Tensor) -> Tensor:
        """[example piece width] -> [example concept]"""
        along = gradient.to(self.states) @ self._atoms.T
        width = along.shape[1]
        return (along * self.activations[:, :width]).sum(1).cpu().double()


def path_nodes() -> tuple[Tensor, Tensor]:
    """Shares of all concepts, and their weights: a Gauss-Legendre rule in the cube root of the share.

    Most nodes lie near no concept, where layers that scale a state to a length of 1 make the answer steep.
    """
    nodes, weights = nodes_of("gauss_legendre", NODES)
    return nodes**3, 3 * nodes**2 * weights


def fitting_texts(model: Model, examples: Sequence[Example], n: int, seed: int) -> list[int]:
    """The numbers of up to n texts at random that the model reads at once, in order."""
    order = np.random.default_rng(seed).permutation(len(examples)).tolist()
    fitting: list[int] = []
    for first in range(0, len(order), max(n, 1)):
        numbers = order[first : first + n]
        rows = model.encode([examples[index] for index in numbers]).rows
        fitting += [index for index, row in zip(numbers, rows, strict=True) if _fits(row)]
        if len(fitting) >= n:
            break
    return sorted(fitting[:n])


def _fits(row: object) -> bool:
    windows, segments = getattr(row, "windows", ()), getattr(row, "segments", ())
    return not windows and any(segment != SPECIAL for segment in segments)


def concept_pass(
    model: Model, examples: Sequence[Example], layer: int, level: Level, dictionary: Dictionary
) -> ConceptPass:
    """The pass of texts that fit one window, with their concepts; raises as `checked_pass`."""
    return with_concepts(checked_pass(model, examples), layer, level, dictionary)


def checked_pass(model: Model, examples: Sequence[Example]) -> ForwardPass:
    """The pass of texts that fit one window; raises `ParityBroken` where its logits are not the model's own, and
    `ModelCannot` for a text that is longer.
    """
    batch = model.encode(examples)
    for example, row in zip(examples, batch.rows, strict=True):
        if row.windows:
            raise ModelCannot(
                f"Text {example.id!r} is longer than {model.name} reads at once, and what concepts do to its answer is "
                f"asked of one pass; give a part of it."
            )
    run = ForwardPass(model, batch, scheduler_for(model), 0)
    run.state(0)  # the pass that has states, so that its logits, read next, need no other
    check_parity(model, batch.examples, run.logits, torch.stack([*plain_logits(model, examples)]).to(run.logits))
    return run


def with_concepts(run: ForwardPass, layer: int, level: Level, dictionary: Dictionary) -> ConceptPass:
    """The concepts of a pass's texts, piece by piece."""
    batch = run.batch
    states = widened(run.state(layer)).cpu().float()
    activations = torch.zeros(*states.shape[:2], len(dictionary.atoms))
    rest = torch.zeros_like(states)
    of_units, every_unit = [], []
    for text, length in enumerate(batch.lengths):
        units, index = level_units(batch, text, level)
        pieces = states[text, :length].numpy()
        means, _ = unit_states(batch, text, pieces, level)
        there = dictionary.activations(means)
        content = list(batch.units[text].content)
        place = np.zeros(len(content), int) if level == "text" else _place_of(units)[index[content]]
        activations[text, content] = torch.from_numpy(there[place])
        rest[text, :length] = states[text, :length]
        rest[text, content] = torch.from_numpy(pieces[content] - means[place]) if level == "text" else 0.0
        of_units.append(there)
        every_unit.append(units)
    alike = widened(run.state(layer))
    activations, rest = activations.to(alike), rest.to(alike)
    return ConceptPass(run, layer, dictionary, activations, rest, tuple(of_units), tuple(every_unit))


def _place_of(units: Units) -> np.ndarray:
    """[unit]: its number among the units that are text."""
    return np.cumsum(~units.special) - 1
