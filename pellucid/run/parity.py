"""The parity guard: we explain the logit that the user's own call of the model gives, or we raise.

A pass can differ from the model's own answer through padding, neighbours, positions or token types. These depend on the
packs, not on the single text. So in a large call the guard runs only a sample as single texts: the longest and the most
padded ones. In a small call it runs all texts. It always runs texts whose two best classes are nearly equal: their
class must not depend on a batch.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

import torch
from torch import Tensor

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput, ParityBroken
from pellucid.run.batch import Batch
from pellucid.run.model import Model, answers_for_places, plain_logits
from pellucid.run.rounding import TOLERANCE as TOLERANCE
from pellucid.run.rounding import tolerance
from pellucid.run.target import class_logits
from pellucid.run.trace import Want
from pellucid.text.example import Example
from pellucid.text.passages import place_of

SHARE = 1 / 40  # of a large call's tokens, run once more as single texts
ALONE = 1 / 6  # of a full pack: the least that a single text costs on a GPU, which waits for Python then
# Padded tokens of a small call: two cores' pack. A GPU's holds hundreds of texts, and alone each takes as long as all.
SMALL = 1280


@dataclass(frozen=True)
class CheckedLogits:
    """The model's logits for the rows of a pack.

    rows: [row logit], from the model's own call with the single text where the guard made it, else from our pass.
    texts: [row logit], logits of the whole text; equal to `rows` where a text fits one window. residuals: [row], how
    far our pass is from the model's own call; None where the guard made none.
    """

    rows: Tensor
    texts: Tensor
    residuals: list[float | None]


@dataclass
class Guard:
    """Calls the model with single texts, and compares its logits with those of the passes that are explained.

    windows: all rows of the call. owners: for each row the number of its text. packs: the rows that run together.
    budget: padded tokens a pack. worst: the largest residual so far.
    """

    model: Model
    windows: Batch
    owners: Sequence[int]
    packs: Sequence[Sequence[int]]
    budget: int
    worst: float = 0.0
    _plain: dict[int, Tensor] = field(default_factory=dict)  # row -> the model's own logits
    _of_text: dict[int, Tensor] = field(default_factory=dict)  # row of a long text -> the text's logits

    def __post_init__(self) -> None:
        if answers_for_places(self.model):
            _check_places(self.windows.examples, self.model.name)
        on_gpu = self.model.device.type != "cpu"
        self._sample = sample(
            self.packs, self.windows.lengths, self.budget, round(ALONE * self.budget) if on_gpu else 0
        )
        for _, of_text in groupby(range(len(self.owners)), self.owners.__getitem__):
            rows = list(of_text)
            if len(rows) > 1:  # a long text's class depends on all its windows, so it is fixed before one is explained
                self._run_windows(rows)

    def _run_windows(self, rows: list[int]) -> None:
        batch = self.windows.select(rows)
        parts = [part for part in batch.parts if part is not None]
        plain = self.model.plain_window_logits(batch.examples[0], parts).cpu()
        self._plain |= dict(zip(rows, plain, strict=True))
        self._of_text |= dict.fromkeys(rows, plain.mean(0))

    def check(self, rows: Sequence[int], logits: Tensor) -> CheckedLogits:
        """The model's logits for a pack whose pass gave these logits [row logit].

        Raises `ParityBroken` where the pass differs from the model's own call.
        """
        ours = logits.cpu()
        unchecked = [
            row
            for row, is_near in zip(rows, self._near_ties(ours), strict=True)
            if row not in self._plain and (row in self._sample or is_near)
        ]
        answers = plain_logits(self.model, [self.windows.examples[row] for row in unchecked])
        self._plain |= {row: answer.cpu() for row, answer in zip(unchecked, answers, strict=True)}
        checked = [index for index, row in enumerate(rows) if row in self._plain]
        plain = torch.stack([self._plain.get(row, answer) for row, answer in zip(rows, ours, strict=True)])
        examples = [self.windows.examples[rows[index]] for index in checked]
        gaps = check_parity(self.model, examples, ours[checked], plain[checked])
        self.worst = max([self.worst, *gaps])
        texts = torch.stack([self._of_text.get(row, answer) for row, answer in zip(rows, plain, strict=True)])
        residual_of = dict(zip(checked, gaps, strict=True))
        return CheckedLogits(plain, texts, [residual_of.get(index) for index in range(len(rows))])

    def samples_all(self, rows: Sequence[int]) -> bool:
        """Whether all of these rows are in the sample."""
        return self._sample.issuperset(rows)

    def check_with_graph(self, rows: Sequence[int], logits: CheckedLogits) -> CheckedLogits:
        """Compare the model's own calls with a pass with a graph too, for those of a pack's rows that are in the
        sample.

        For methods that read gradients of other passes than the text's own. The sampled rows run beside the longest of
        the pack, so padded as in it, or if that is the only one, beside the shortest. logits: from `check`. Returns
        them with the larger residuals of both passes. Raises `ParityBroken` as `check` does.
        """
        sampled = [row for row in rows if row in self._sample]
        if not sampled:
            return logits
        by_length = sorted(rows, key=self.windows.lengths.__getitem__)
        beside = by_length[-1] if sampled != [by_length[-1]] else by_length[0]
        batch = self.windows.select(list(dict.fromkeys([*sampled, beside])))
        ours = self.model.trace(batch.rows, Want(gradients=True)).logits.detach().cpu()[: len(sampled)]
        plain = torch.stack([self._plain[row] for row in sampled])
        gaps = check_parity(self.model, batch.examples[: len(sampled)], ours, plain)
        self.worst = max([self.worst, *gaps])
        of_row = dict(zip(sampled, gaps, strict=True))
        pairs = zip(rows, logits.residuals, strict=True)
        merged = [None if gap is None else max(gap, of_row.get(row, gap)) for row, gap in pairs]
        return replace(logits, residuals=merged)

    def _near_ties(self, logits: Tensor) -> list[bool]:
        """[row]: whether the two best classes differ by less than two passes of the model may differ; logits: [row
        logit].
        """
        scores = class_logits(logits, self.model.problem)
        if scores.shape[-1] < 2 or self.model.problem == "log_probability":
            return [False] * len(logits)
        best, next_best = scores.topk(2).values.double().unbind(-1)
        allowed = tolerance(self.model, logits.dtype)
        return (~(best - next_best > 2 * allowed * best.abs().clamp_min(1.0))).tolist()  # nan too


def _check_places(examples: Sequence[Example], name: str) -> None:
    """Raise `BadInput` for an example that asks about no place, of a model that answers for single pieces."""
    for example in examples:
        if place_of(example) is None:
            raise BadInput(
                f"{name} answers for places in a text, and example {quoted(example.id)} asks about none; give the text "
                f"to pellucid.explain or compare, which look for its places."
            )


def sample(packs: Sequence[Sequence[int]], lengths: Sequence[int], budget: int, alone: int = 0) -> frozenset[int]:
    """The rows to run once more as single texts: all of a small call that one pack has room for; else the longest and
    most padded.

    packs: rows that run together. lengths: pieces of each row. budget: padded tokens a pack. alone: what a single text
    costs at least, in tokens of a pack.
    """
    if len(lengths) <= 1 or max(lengths) * len(lengths) <= min(budget, SMALL):
        return frozenset(range(len(lengths)))
    longest = [max(lengths[row] for row in pack) for pack in packs]
    padding = {row: most - lengths[row] for pack, most in zip(packs, longest, strict=True) for row in pack}
    order = sorted(padding, key=lambda row: (-padding[row], lengths[row], row))
    sampled = {packs[0][0], order[0]}
    tokens_left = SHARE * sum(lengths) - sum(lengths[row] for row in sampled)
    for row in order[1:]:
        tokens_left -= max(lengths[row], alone)
        if tokens_left < 0 or not padding[row]:
            break
        sampled.add(row)
    return frozenset(sampled)


def check_parity(model: Model, examples: Sequence[Example], logits: Tensor, plain: Tensor) -> list[float]:
    """The residual of each example: max |explained - plain logit| / max(1, |logit|).

    logits: [example logit], from our batched pass. plain: [example logit], from the single, unpadded text. Raises
    `ParityBroken` above the tolerance of the model's number type (1e-4 in float32), and for logits that are no numbers.
    """
    allowed = tolerance(model, plain.dtype)
    gaps = residuals(logits, plain)
    for example, gap in zip(examples, gaps.tolist(), strict=True):
        if not gap <= allowed:  # nan too
            raise ParityBroken(
                f"{model.name}: for example {quoted(example.id)} the pass we would explain differs from the model's "
                f"own answer by {gap:.2g} (allowed {allowed:g}). The model may depend on padding, on a random state "
                "or on neighbouring texts, or its weights are not numbers."
            )
    return gaps.tolist()


def check_edited(model: Model, together: Tensor, alone: Tensor, dtype: torch.dtype) -> None:
    """Raise `ParityBroken` where the answers [row answer] for edited texts differ between a pack and each text alone.

    dtype: the number type that they were computed in. Answers that are no numbers in both pass here; their reader
    checks.
    """
    same = (together == alone) | (together.isnan() & alone.isnan())
    worst = residuals(together.where(~same, 0), alone.where(~same, 0)).max().item()
    allowed = tolerance(model, dtype)
    if not worst <= allowed:
        raise ParityBroken(
            f"{model.name}: an edited text gets another answer beside longer texts than alone (by {worst:.2g}, allowed "
            f"{allowed:g}). The model may depend on padding, on a random state or on neighbouring texts."
        )


def residuals(answers: Tensor, plain: Tensor) -> Tensor:
    """[row]: max |answer - plain answer| / max(1, |plain answer|), for answers [row answer]; nan where one is no
    number.

    Infinities of one sign are equal, as of a class that the model rules out.
    """
    answers = answers.to(plain)
    gaps = (answers - plain).abs() / plain.abs().clamp_min(1.0)
    return gaps.masked_fill((answers == plain) & plain.isinf(), 0.0).amax(-1)
