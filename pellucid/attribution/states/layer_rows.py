"""One row of scores for each explained layer."""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Scores
from pellucid.core.passes.target import Explainable
from pellucid.core.states.hidden_target import ResolvedState

OfLayer = tuple[Tensor, tuple[dict[str, float], ...], tuple[tuple[str, ...], ...]]


def in_layer_rows(
    run: ForwardPass, target: Explainable, method: str, of_layer: Callable[[ResolvedState], OfLayer]
) -> Scores:
    """A method's scores for one layer, or, where several are explained, a row for each.

    of_layer: the target of one layer -> scores [example unit], and for each example its diagnostics and caveats; of several
    layers the worst of each diagnostic. Raises `BadSetting` for a class.
    """
    if not isinstance(target, ResolvedState):
        raise BadSetting(f"{method} explains a hidden state; give target=HiddenState(layer).")
    layers = [of_layer(one) for one in target.one_a_layer()]
    several = len(layers) > 1
    values = torch.stack([scores for scores, _, _ in layers], 1)
    return Scores(
        run.batch.crop((values if several else values[:, 0]).detach()),
        rows=(("layer", tuple(map(str, target.layers))),) if several else (),
        diagnostics=tuple(_worst([of_layer[n] for _, of_layer, _ in layers]) for n in range(len(run.batch))),
        caveats=tuple(
            tuple(dict.fromkeys(caveat for _, _, of_layer in layers for caveat in of_layer[n]))
            for n in range(len(run.batch))
        ),
        of_rows=tuple(
            tuple((diagnostics[n], caveats[n]) for _, diagnostics, caveats in layers)
            for n in range(len(run.batch))
        )
        if several
        else (),
    )


def _worst(of_layers: list[dict[str, float]]) -> dict[str, float]:
    """The worst value of each diagnostic."""
    worst = {name: (min if name in ("exact", "converged") else max) for name in of_layers[0]}
    return {name: choose(one[name] for one in of_layers) for name, choose in worst.items()}
