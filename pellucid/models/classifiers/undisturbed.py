"""Runs of a network that nobody disturbs: another thread may switch the user's network between training and evaluation.

A flag that was switched on and off again within one run leaves no trace of its own. But dropout draws from torch's random
state, so a run whose flags are off at its end and that drew nothing had none. Where something was drawn, by whomever, the run is
repeated: without dropout two runs are equal.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor, nn

from pellucid.core.foundation.errors import ParityBroken
from pellucid.core.passes.parity import residuals
from pellucid.core.passes.precision import TOLERANCE
from pellucid.core.passes.trace import Trace
from pellucid.models.classifiers.buffer_copies import reading

RUNS = 8  # of one question, at most

Answer = TypeVar("Answer")
Numbers = Sequence[Tensor]


def undisturbed(
    network: nn.Module, name: str, run: Callable[[], Answer], numbers: Callable[[Answer], Numbers]
) -> Answer:
    """What `run` returns in evaluation mode, as if no other thread touched the network.

    name: what messages call the model. numbers: what of an answer two equal runs share. Raises `ParityBroken` where every run gives
    another answer: by a random state, or by a thread that goes on switching modes.
    """
    earlier: list[Numbers] = []
    for _ in range(RUNS):
        with reading(network) as modules:
            drawn = _random_state()
            try:
                answer = run()
            except Exception:
                if _any_trains(modules):
                    continue  # some networks fail in training mode
                raise
            if _any_trains(modules):
                continue
        if torch.equal(drawn, _random_state()):
            return answer
        ours = [each.detach() for each in numbers(answer)]
        if any(_equal(ours, others) for others in earlier):
            return answer
        earlier.append(ours)
    if len(earlier) == RUNS and all(_near(earlier[-1], others) for others in earlier):
        return answer  # a network that rounds at random
    raise ParityBroken(
        f"{name} gives another answer in each of {RUNS} passes over one text: it depends on a random state, or another thread "
        "switches it between training and evaluation, which must wait until it is explained."
    )


def _any_trains(modules: Sequence[nn.Module]) -> bool:
    return any(getattr(module, "training", False) for module in modules)


def shared_numbers(trace: Trace) -> Numbers:
    """What two equal runs of the same rows share: the answer, or the deepest state that was needed."""
    return [trace.logits, trace.embeddings, *trace.hidden[-1:]]


def _random_state() -> Tensor:
    """What dropout changes: the state of torch's generator, and how far those of GPUs have come."""
    state = torch.default_generator.get_state()
    if not torch.cuda.is_initialized():
        return state
    offsets = [generator.get_offset() for generator in torch.cuda.default_generators]
    return torch.cat([state.long(), torch.tensor(offsets)])


def _equal(ours: Numbers, others: Numbers) -> bool:
    return all(torch.equal(one, two) for one, two in zip(ours, others, strict=True))


def _near(ours: Numbers, others: Numbers) -> bool:
    """Whether two runs differ by no more than the guard allows."""
    pairs = zip(ours, others, strict=True)
    return all(bool((residuals(one, two) <= TOLERANCE[one.dtype]).all()) for one, two in pairs if one.numel())
