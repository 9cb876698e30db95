"""How far scores from random samples may be from the scores of infinitely many samples.

The samples are dealt into groups; each group is left out once. Efron & Stein (1981), "The Jackknife Estimate of
Variance".
"""

from collections.abc import Callable

import torch
from torch import Tensor

from pellucid.run.rounding import quotient

GROUPS = 10


def relative_error(sums: Tensor, counts: Tensor, score_of: Callable[[Tensor], Tensor]) -> Tensor:
    """[example]: the scores' standard error, root mean square over the pieces, as a share of the largest score.

    sums: [group moment example unit width], sums of samples; counts: [group]; score_of: means [moment example unit
    width] -> [example unit]. Needs two groups. Samples that are spread evenly on purpose have a smaller error
    than this.
    """
    whole = score_of(sums.sum(0) / counts.sum())
    without_one = torch.stack(
        [score_of((sums.sum(0) - part) / (counts.sum() - n)) for part, n in zip(sums, counts, strict=True)]
    )
    groups = len(without_one)
    variance = (without_one - without_one.mean(0)).square().sum(0) * (groups - 1) / groups
    units = (whole != 0).sum(-1).clamp_min(1)
    return quotient((variance.sum(-1) / units).sqrt(), whole.abs().amax(-1))
