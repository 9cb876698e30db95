"""One batch under one model, lazily: everything several methods read is computed once and shared.

All gradient methods and all layers cost one forward and one backward pass together.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal

import torch
from torch import Tensor

from pellucid.core.batch import Batch, Row
from pellucid.core.catalogue import Call
from pellucid.core.checks import one_of
from pellucid.core.errors import ModelCannot
from pellucid.core.graph import refuse_opaque
from pellucid.core.kinds import policies
from pellucid.core.ledger import Ledger
from pellucid.core.model import Model, Scores
from pellucid.core.reading import LOGITS, Reading
from pellucid.core.scheduler import Scheduler
from pellucid.core.seeds import generator_for
from pellucid.core.target import Explainable
from pellucid.core.trace import Trace, Want
from pellucid.core.windows import rows_of

Baseline = Literal["zero", "pad", "mask"]


@dataclass
class ForwardPass:
    """A batch under a model: `logits`, `words`, `hidden[l]`, `attention[l]`, gradients, and variants.

    embeddings: word embeddings [example unit width] to use instead of the model's own. policy: whose backward rules
    hold in the pass with a graph (None: plain gradients).
    """

    model: Model
    batch: Batch
    scheduler: Scheduler
    seed: int = 0
    embeddings: Tensor | None = None
    policy: Call | None = None
    _gradients: dict[Explainable, tuple[Tensor, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def trace(self) -> Trace:
        """The forward pass with its graph: logits, word embeddings and hidden states."""
        want = Want(gradients=True, hidden=True)
        if self.policy is not None:
            want = replace(want, under=partial(self.policy, self.ledger))
        found = self.model.trace(self.batch.rows, want, self.embeddings)
        if self.policy is not None:
            refuse_opaque(found.logits, self.model.name)
        return found

    @cached_property
    def ledger(self) -> Ledger:
        """Where relevance goes besides the words, in a pass under a policy."""
        return Ledger(len(self.batch), self.model.device)

    @cached_property
    def attention(self) -> tuple[Tensor, ...]:
        """For each block [example head query key]: the weights; rows sum to 1 over real keys."""
        with torch.no_grad():
            return self.model.trace(self.batch.rows, Want(attention=True), self.embeddings).attention

    @cached_property
    def quick(self) -> Trace:
        """The forward pass without a graph: logits and, for self-explaining models, their own weights."""
        with torch.no_grad():
            return self.model.trace(self.batch.rows, Want(), self.embeddings)

    @cached_property
    def _shallow(self) -> Trace:
        """A forward pass without a graph that leaves its hidden states behind."""
        with torch.no_grad():
            return self.model.trace(self.batch.rows, Want(hidden=True), self.embeddings)

    @property
    def logits(self) -> Tensor:
        """[example logit], without a graph."""
        return self.answers(LOGITS)

    def answers(self, reading: Reading) -> Tensor:
        """[example answer]: what a reading gives for the examples, without a graph."""
        if self.policy is not None or "trace" in self.__dict__:
            trace = self.trace
        else:
            trace = self._shallow if reading.want.hidden else self.quick
        return reading.answers(trace, self.batch.rows).detach()

    @property
    def words(self) -> Tensor:
        """[example unit width]: the word embeddings."""
        return self.trace.words.detach()

    @property
    def hidden(self) -> tuple[Tensor, ...]:
        """For l = 0..L [example unit width]: hidden states; l = 0 is the first block's input."""
        return tuple(state.detach() for state in self.trace.hidden)

    def gradient(self, target: Explainable, layer: int | None = None) -> Tensor:
        """[example unit width]: the target's gradient by the word embeddings, or by a hidden state."""
        if target not in self._gradients:
            keep = self.embeddings is None  # another target, or a layer, may be asked of the same pass
            shares = () if self.policy is None else self.ledger.shares.values()
            points = [self.trace.words, *(self.trace.hidden if keep else ()), *shares]
            value = target.values(target.reading.answers(self.trace, self.batch.rows)).sum()
            found = torch.autograd.grad(value, points, retain_graph=keep, allow_unused=True)
            self._gradients[target] = tuple(
                torch.zeros_like(point) if slope is None else slope
                for point, slope in zip(points, found, strict=True)
            )
        return self._gradients[target][0 if layer is None else layer + 1]

    def pulled(self, reading: Reading, weights: Tensor) -> Tensor:
        """[example unit width]: the gradient by the word embeddings of answers weighted [example answer]."""
        answers = reading.answers(self.trace, self.batch.rows)
        return torch.autograd.grad(answers, self.trace.words, weights.to(answers))[0]

    def absorbed(self, target: Explainable) -> dict[str, Tensor]:
        """For each account of the ledger [example]: the relevance that went there."""
        self.gradient(target)
        shares = self._gradients[target][-len(self.ledger.shares) :]
        return dict(zip(self.ledger.shares, shares, strict=True))

    def under(self, policy: str, **settings: Any) -> "ForwardPass":
        """The same pass with a relevance policy's backward rules; its gradient x input is relevance."""
        entry = policies.get(policy)
        call = Call(entry, entry.settings(settings), policy)
        return ForwardPass(self.model, self.batch, self.scheduler, self.seed, self.embeddings, call)

    def at(self, embeddings: Tensor) -> "ForwardPass":
        """The same rows at another point of word-embedding space."""
        return ForwardPass(self.model, self.batch, self.scheduler, self.seed, embeddings.detach())

    def part(self, indices: Sequence[int]) -> "ForwardPass":
        """The same point for some of the examples only."""
        batch = self.batch.select(indices)
        words = self.words[list(indices), : max(batch.lengths)]
        return ForwardPass(self.model, batch, self.scheduler, self.seed, words)

    def blank(self, baselines: Baseline) -> Tensor:
        """[example unit width]: the text's embeddings with every content token blanked, special tokens kept."""
        one_of("baselines", baselines, ("zero", "pad", "mask"))
        words = self.words
        if baselines == "zero":
            blank = torch.zeros_like(words[0, 0])
        else:
            number = self.model.blank_ids()[baselines]
            if number is None:
                raise ModelCannot(f"The tokenizer has no {baselines} token; use baselines='zero'.")
            blank = self.model.embed(torch.tensor([number], device=words.device))[0]
        return torch.where(self.content[..., None], blank, words)

    @cached_property
    def content(self) -> Tensor:
        """[example unit] bool: True at text, False at special tokens and padding."""
        mask = torch.zeros(
            len(self.batch), max(self.batch.lengths), dtype=torch.bool, device=self.model.device
        )
        for number, units in enumerate(self.batch.units):
            mask[number, list(units.content)] = True
        return mask

    def values(self, target: Explainable) -> Tensor:
        """[example]: the explained number of each example at this point, without a graph."""
        return target.values(self.answers(target.reading))

    def evaluate(self, variants: Sequence[Sequence[Row]], target: Explainable) -> list[Tensor]:
        """For each example [variant]: the explained number of edited rows, through the scheduler."""
        flat = [row for rows in variants for row in rows]
        answers = evaluate_rows(self.model, self.scheduler, flat, target.reading)
        parts = answers.split([len(rows) for rows in variants])
        return [target.values_of(number, found) for number, found in enumerate(parts)]

    def generators(self, method: str) -> list[torch.Generator]:
        """One random generator an example, seeded from its content."""
        return [generator_for(row, method, self.seed) for row in self.batch.rows]

    def crop(self, padded: Tensor) -> tuple[Tensor, ...]:
        """[example *rows unit] -> one tensor [*rows unit] an example, without padding."""
        return tuple(values[..., :length] for values, length in zip(padded, self.batch.lengths, strict=True))

    def scores(self, padded: Tensor, **extras: tuple) -> Scores:
        """A method's result from its padded scores [example unit]."""
        return Scores(self.crop(padded.detach()), **extras)


def evaluate_rows(
    model: Model, scheduler: Scheduler, rows: Sequence[Row], reading: Reading = LOGITS
) -> Tensor:
    """[row answer]: the model's answers, without gradients; every distinct row is computed once.

    The answer to a row with windows is the mean of the answers to them.
    """

    def run(pack: list[Row]) -> Tensor:
        with torch.no_grad():
            answers = reading.answers(model.trace(pack, reading.want), pack).cpu()
        return answers if answers.dtype == torch.float64 else answers.float()

    readable = [rows_of(row) for row in rows]
    answers = scheduler.evaluate([row for found in readable for row in found], run, reading.key)
    return torch.stack([found.mean(0) for found in answers.split([len(found) for found in readable])])
