"""The parity guard: we explain the logit that the user's own call of the model gives, or we raise.

What could set a text's pass apart from the model's own answer is padding, neighbours, positions, token types: these
depend on the packs, not on the single text. So of a large call a sample is asked again as single texts, those that our
packs strain most; a small call is asked whole. Texts near a tie are always asked: their class must not depend on a batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby

import torch
from torch import Tensor

from pellucid.core.foundation.errors import ParityBroken
from pellucid.core.foundation.wording import quoted
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.model import Model
from pellucid.core.passes.precision import TOLERANCE as TOLERANCE
from pellucid.core.passes.precision import tolerance
from pellucid.core.passes.target import class_logits
from pellucid.core.text.example import Example

SHARE = 1 / 40  # of a large call's tokens, asked again as single texts


@dataclass(frozen=True)
class Said:
    """What the model says of the rows of a pack.

    rows: [row logit], its own answers to single texts where they were asked for, else those of our pass. wholes: those
    of the texts that the rows are windows of; of other rows, the same. parity: each row's residual, None where not asked.
    """

    rows: Tensor
    wholes: Tensor
    parity: list[float | None]


@dataclass
class Guard:
    """Asks the model for single texts and compares them with the passes that are explained.

    windows: all rows of the call. owners: the text that each is a window of. packs: how the rows will run. budget: the
    padded tokens that a pack has room for.
    """

    model: Model
    windows: Batch
    owners: Sequence[int]
    packs: Sequence[Sequence[int]]
    budget: int
    worst: float = 0.0
    _plain: dict[int, Tensor] = field(default_factory=dict)
    _whole: dict[int, Tensor] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._sample = sample(self.packs, self.windows.lengths, self.budget)
        for _, found in groupby(range(len(self.owners)), self.owners.__getitem__):
            rows = list(found)
            if len(rows) > 1:  # a long text's class is fixed by all its windows, before any is explained
                self._ask_windows(rows)

    def _ask_windows(self, rows: list[int]) -> None:
        batch = self.windows.select(rows)
        parts = [part for part in batch.parts if part is not None]
        plain = self.model.plain_window_logits(batch.examples[0], parts).cpu()
        self._plain |= dict(zip(rows, plain, strict=True))
        self._whole |= dict.fromkeys(rows, plain.mean(0))

    def said(self, rows: Sequence[int], logits: Tensor) -> Said:
        """What the model says of a pack whose pass gave these logits [row logit].

        Raises `ParityBroken` where the pass differs from the model's own answer.
        """
        ours = logits.cpu()
        for row, found in zip(rows, ours, strict=True):
            if row not in self._plain and (row in self._sample or self._near_a_tie(found)):
                self._plain[row] = self.model.plain_logits(self.windows.examples[row]).cpu()
        asked = [place for place, row in enumerate(rows) if row in self._plain]
        plain = torch.stack([self._plain.get(row, found) for row, found in zip(rows, ours, strict=True)])
        examples = [self.windows.examples[rows[place]] for place in asked]
        gaps = check_parity(self.model, examples, ours[asked], plain[asked])
        self.worst = max([self.worst, *gaps])
        wholes = torch.stack([self._whole.get(row, own) for row, own in zip(rows, plain, strict=True)])
        known = dict(zip(asked, gaps, strict=True))
        return Said(plain, wholes, [known.get(place) for place in range(len(rows))])

    def _near_a_tie(self, logits: Tensor) -> bool:
        scores = class_logits(logits, self.model.problem)
        if len(scores) < 2:
            return False
        best, next_best = scores.topk(2).values.tolist()
        allowed = tolerance(self.model, logits.dtype)
        return not best - next_best > 2 * allowed * max(1.0, abs(best))  # nan too


def sample(packs: Sequence[Sequence[int]], lengths: Sequence[int], budget: int) -> frozenset[int]:
    """Which rows to ask again as single texts: all that one pack has room for; of more the longest and most padded ones."""
    if len(packs) == 1 or max(lengths, default=0) * len(lengths) <= budget:
        return frozenset(range(len(lengths)))
    padding = {row: max(lengths[other] for other in pack) - lengths[row] for pack in packs for row in pack}
    order = sorted(padding, key=lambda row: (-padding[row], lengths[row], row))
    chosen = {packs[0][0], order[0]}
    room = SHARE * sum(lengths) - sum(lengths[row] for row in chosen)
    for row in order[1:]:
        room -= lengths[row]
        if room < 0 or not padding[row]:
            break
        chosen.add(row)
    return frozenset(chosen)


def check_parity(model: Model, examples: Sequence[Example], logits: Tensor, plain: Tensor) -> list[float]:
    """The residual of each example: max |explained - plain logit| / max(1, |logit|).

    logits, plain: [example logit], from our batched pass and from the single, unpadded text. Raises
    `ParityBroken` above the tolerance of the model's number type (1e-4 in float32), and for logits that are
    not numbers.
    """
    allowed = tolerance(model, plain.dtype)
    gaps = residuals(logits, plain)
    for example, gap in zip(examples, gaps.tolist(), strict=True):
        if not gap <= allowed:  # nan too
            raise ParityBroken(
                f"{model.name}: for example {quoted(example.id)} the pass we would explain differs from the model's own "
                f"answer by {gap:.2g} (allowed {allowed:g}). The model may depend on padding, on a random state "
                "or on its neighbours, or its weights are not numbers."
            )
    return gaps.tolist()


def check_edited(model: Model, together: Tensor, alone: Tensor, dtype: torch.dtype) -> None:
    """Raise `ParityBroken` where answers [row answer] that edited texts got in a pack differ from those they get alone.

    dtype: the number type that they were computed in. What is no number either way is judged by who reads it.
    """
    same = (together == alone) | (together.isnan() & alone.isnan())
    worst = residuals(together.where(~same, 0), alone.where(~same, 0)).max().item()
    allowed = tolerance(model, dtype)
    if not worst <= allowed:
        raise ParityBroken(
            f"{model.name}: an edited text gets another answer beside longer texts than alone (by {worst:.2g}, allowed "
            f"{allowed:g}). The model may depend on padding, on a random state or on its neighbours."
        )


def residuals(answers: Tensor, plain: Tensor) -> Tensor:
    """[row]: max |answer - plain answer| / max(1, |plain answer|) of answers [row answer]; nan where one is no number."""
    return ((answers.to(plain) - plain).abs() / plain.abs().clamp_min(1.0)).amax(-1)
