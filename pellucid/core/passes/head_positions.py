"""Which positions the classification head reads: measured by gradients, not taken from a list of models."""

import torch
from torch import Tensor

from pellucid.core.passes.batch import Batch
from pellucid.core.passes.trace import Trace


def head_positions(trace: Trace, batch: Batch) -> Tensor:
    """[example unit]: the positions that the head reads, equally weighted; rows sum to 1.

    The head reads a position where a mixture of the logits has a gradient by its last hidden state: the first position for
    BERT, the last for decoders, all where the head takes the mean. Where every gradient is 0, all pieces count.
    """
    mixture = trace.logits @ torch.arange(1, trace.logits.shape[-1] + 1).to(trace.logits)
    (gradient,) = torch.autograd.grad(mixture.sum(), trace.hidden[-1], retain_graph=True)
    touched = (gradient != 0).any(-1)
    real = torch.zeros_like(touched)
    for number, length in enumerate(batch.lengths):
        real[number, :length] = True
    shares = torch.where(touched.any(-1, keepdim=True), touched, real).to(gradient)
    return shares / shares.sum(-1, keepdim=True)
