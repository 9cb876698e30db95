"""Attention of every head by itself: what each attends to from the position that the classifier reads.

Clark, Khandelwal, Levy & Manning (2019), "What Does BERT Look At? An Analysis of BERT's Attention".
"""

import torch

from pellucid.attribution.attention import NO_CLASS
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable


@attributions.add(
    needs={"attention", "gradient"},
    cost="1 run of the model, with attention weights",
    signed=False,
    of_class=False,
    usual=False,
)
def attention_heads(run: ForwardPass, target: Explainable) -> Scores:
    """One row of weights a head, called "block.head" from 1.1 up, in the row that the classifier reads; rows sum to 1.

    For looking at heads one by one; `attention` is their mean in the last block.
    """
    positions = run.read_positions(target)[:, None, None, :]
    rows = [
        (positions.to(weights) @ weights)[:, :, 0] for weights in run.attention
    ]  # [example head unit] each
    names = tuple(
        f"{block}.{head}" for block, weights in enumerate(rows, 1) for head in range(1, weights.shape[1] + 1)
    )
    return run.scores(
        torch.cat(rows, 1).float(), rows=(("head", names),), caveats=((NO_CLASS,),) * len(run.batch)
    )
