"""A hidden state as a function of the word embeddings: s = Phi(x), for methods that read states as vectors.

Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 3.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from pellucid.base.errors import BadSetting
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import EVERY, ResolvedState
from pellucid.run.readout import StateReadout
from pellucid.run.target import Explainable


@dataclass(frozen=True, eq=False)
class StateFunction:
    """Phi of one batch: from word embeddings to the explained hidden state of each text.

    points: [example unit width], x, the word embeddings; padding beyond a text has no effect. states: [example place
    width'], s = Phi(x); a place is one state of those that stand side by side, and places beyond a text's own are 0.
    real: [example place] bool, whether a text has this place.
    """

    points: Tensor
    states: Tensor
    real: Tensor
    run: ForwardPass
    readout: StateReadout
    weights: Tensor

    def __call__(self, examples: Sequence[int], points: Tensor) -> Tensor:
        """[len(examples) place width']: Phi at other points [len(examples) unit width], differentiable by the points.

        examples: their numbers in the batch; one may be named several times. Padding beyond the longest named example may
        be missing from the points. Blocks above the layer do not run.
        """
        batch = self.run.batch.select(examples)
        length = max(batch.lengths)
        with torch.set_grad_enabled(points.requires_grad):
            trace = self.run.model.trace(batch.rows, self.readout.want, points[:, :length])
            return _places(self.readout, self.weights[list(examples), :, :length], trace.hidden)


def state_function(run: ForwardPass, target: Explainable) -> StateFunction:
    """Phi of a pass for one layer's states. Raises `BadSetting` for a class, and for several layers at once."""
    if not isinstance(target, ResolvedState):
        raise BadSetting("A class has no hidden state; give target=HiddenState(layer).")
    if len(target.layers) > 1:
        raise BadSetting(f"Layers {target.layers[0]} to {target.layers[-1]} are several; read one at a time.")
    readout, weights = target.readout, place_weights(run, target)
    points, hidden = run.embeddings, run.hidden
    with torch.no_grad():
        states = _places(readout, weights, hidden)
    return StateFunction(points, states, weights.ne(0).any(-1), run, readout, weights)


def place_weights(run: ForwardPass, target: ResolvedState) -> Tensor:
    """[example place unit]: how each explained state is made of the units' states; rows sum to 1, or to 0 beyond a text's."""
    several = target.of.positions == EVERY or isinstance(target.of.positions, tuple)
    places: list[list[list[int]]] = []  # for each example and place, the units whose mean it is
    for row in run.batch.rows:
        units = list(range(len(row))) if target.of.positions == EVERY else target.readout.pieces(row)
        places.append([[unit] for unit in units] if several else [units])
    shape = (len(places), max(map(len, places)), max(run.batch.lengths))
    weights = torch.zeros(shape, dtype=run.embeddings.dtype)
    for example, of_text in enumerate(places):
        for place, units in enumerate(of_text):
            weights[example, place, units] = 1.0 / max(1, len(units))
    return weights.to(run.model.device)


def _places(readout: StateReadout, weights: Tensor, hidden: Sequence[Tensor]) -> Tensor:
    """[example place width']: the weights' mixtures of a layer's states, in the states' own number type."""
    states = readout.part_of(hidden[readout.layer])
    return weights.to(states) @ states.masked_fill(~weights.ne(0).any(1)[..., None], 0.0)
