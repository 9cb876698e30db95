"""The parity guard: we explain the logit that the user's own call of the model gives, or we raise."""

from collections.abc import Sequence

import torch
from torch import Tensor

from pellucid.core.errors import ParityBroken
from pellucid.core.example import Example
from pellucid.core.model import Model
from pellucid.core.wording import quoted

TOLERANCE = {torch.float64: 1e-4, torch.float32: 1e-4, torch.bfloat16: 5e-2, torch.float16: 1e-2}


def check_parity(model: Model, examples: Sequence[Example], logits: Tensor, plain: Tensor) -> list[float]:
    """The residual of each example: max |explained - plain logit| / max(1, |logit|).

    logits, plain: [example logit], from our batched pass and from the single, unpadded text. Raises
    `ParityBroken` above the tolerance of the model's number type (1e-4 in float32), and for logits that are
    not numbers.
    """
    allowed = TOLERANCE[plain.dtype]
    gaps = ((logits.to(plain) - plain).abs() / plain.abs().clamp_min(1.0)).amax(-1)
    for example, gap in zip(examples, gaps.tolist(), strict=True):
        if not gap <= allowed:  # nan too
            raise ParityBroken(
                f"{model.name}: for example {quoted(example.id)} the pass we would explain differs from the model's own "
                f"answer by {gap:.2g} (allowed {allowed:g}). The model may depend on padding, on a random state "
                "or on its neighbours, or its weights are not numbers."
            )
    return gaps.tolist()
