"""Hiding pieces of a row for a masked-language-model head to guess.

Devlin et al. (2019), "BERT", section 3.1, where of the hidden pieces 80 % become the mask token, 10 % another piece, and 10 %
stay. Here 60 % stay. A lens learns for minutes and reads texts without masks; with 80 % masks too few pieces teach it to name
what stands there: after 400 steps it named 45 % of MiniLM's own pieces first, and with 30 % masks 91 %.
"""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.passes.seeds import generator_for
from pellucid.training.lens.lens_rows import content_of

AS_MASK, AS_OTHER = 0.3, 0.1  # of the hidden pieces; the others stay


@dataclass(frozen=True)
class Masking:
    """How rows are masked.

    share: of a row's pieces of text, at least one. mask: the id of the mask token; None where the tokenizer has none: then
    another piece stands in its place. vocabulary: [piece], the ids that another piece is drawn from. seed: a whole number.
    as_mask, as_other: the shares of the hidden pieces that become the mask and another piece.
    """

    share: float
    mask: int | None
    vocabulary: Tensor
    seed: int
    as_mask: float = AS_MASK
    as_other: float = AS_OTHER

    def masked(self, row: Row, reading: int) -> tuple[Row, list[int]]:
        """The masked row, and the numbers of its hidden pieces, in order.

        reading: how often the row was read before. The draws depend on the seed, on this number and on the row's own ids.
        """
        generator = generator_for(row, f"masks of reading {reading}", self.seed)
        content = content_of(row)
        count = max(1, round(self.share * len(content)))
        hidden = sorted(
            content[number] for number in torch.randperm(len(content), generator=generator)[:count].tolist()
        )
        draws = torch.rand(count, generator=generator).tolist()
        others = self.vocabulary[torch.randint(len(self.vocabulary), (count,), generator=generator)].tolist()
        ids = list(row.ids)
        for piece, draw, other in zip(hidden, draws, others, strict=True):
            if draw < self.as_mask + self.as_other:
                ids[piece] = other if draw >= self.as_mask or self.mask is None else self.mask
        return replace(row, ids=tuple(ids)), hidden
