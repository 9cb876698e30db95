"""Which positions the classification head reads: tried, not looked up."""

import torch
from torch import Tensor

from pellucid.core.passes.batch import Batch
from pellucid.core.passes.trace import Trace


def head_positions(trace: Trace, batch: Batch) -> Tensor:
    """[example unit]: the positions that the head reads, equally weighted; rows sum to 1.

    Those whose last hidden state has a gradient by some mixture of the logits: the first for BERT, the last for
    decoders, all where the head pools the mean; all pieces too where every gradient is 0.
    """
    mixture = trace.logits @ torch.arange(1, trace.logits.shape[-1] + 1).to(trace.logits)
    (gradient,) = torch.autograd.grad(mixture.sum(), trace.hidden[-1], retain_graph=True)
    touched = (gradient != 0).any(-1)
    real = torch.zeros_like(touched)
    for number, length in enumerate(batch.lengths):
        real[number, :length] = True
    shares = torch.where(touched.any(-1, keepdim=True), touched, real).to(gradient)
    return shares / shares.sum(-1, keepdim=True)
