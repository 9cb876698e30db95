"""One batch under one model, lazily: everything several methods read is computed once and shared.

All gradient methods and all layers cost one forward and one backward pass together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor

from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.checks import between
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.foundation.kinds import policies
from pellucid.core.foundation.lazy_properties import cached_property
from pellucid.core.passes.batch import Batch, Row
from pellucid.core.passes.blank import Baseline, blank_vector
from pellucid.core.passes.graph import refuse_opaque
from pellucid.core.passes.ledger import Ledger
from pellucid.core.passes.model import Model, Scores
from pellucid.core.passes.parity import check_edited
from pellucid.core.passes.precision import number_type, widened
from pellucid.core.passes.reading import LOGITS, Reading
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.passes.seeds import generator_for
from pellucid.core.passes.target import Explainable
from pellucid.core.passes.trace import Trace, Want
from pellucid.core.passes.windows import rows_of


@dataclass
class ForwardPass:
    """A batch under a model: `logits`, `words`, `hidden[l]`, `attention[l]`, gradients, and variants.

    embeddings: word embeddings [example unit width] to use instead of the model's own, or, with a layer, that hidden
    state. open_attention: attention weights are part of the graph. policy: whose backward rules hold in the pass with a
    graph (None: plain gradients).
    """

    model: Model
    batch: Batch
    scheduler: Scheduler
    seed: int = 0
    embeddings: Tensor | None = None
    layer: int | None = None
    open_attention: bool = False
    policy: Call | None = None
    _gradients: dict[Explainable, tuple[Tensor, ...]] = field(default_factory=dict, repr=False)

    @cached_property
    def trace(self) -> Trace:
        """The forward pass with its graph: logits, word embeddings, hidden states and, if open, attention."""
        want = Want(gradients=True, hidden=True, attention=self.open_attention)
        if self.policy is None:
            return self._run(want)
        found = self._run(replace(want, under=partial(self.policy, self.ledger)))
        refuse_opaque(found.logits, self.model.name)
        return found

    @cached_property
    def ledger(self) -> Ledger:
        """Where relevance goes besides the words, in a pass under a policy."""
        return Ledger(len(self.batch), self.model.device)

    @cached_property
    def attention(self) -> tuple[Tensor, ...]:
        """For each block [example head query key]: the weights; rows sum to 1 over real keys."""
        if self.open_attention:
            return tuple(weights.detach() for weights in self.trace.attention)
        with torch.no_grad():
            return self._run(Want(attention=True)).attention

    @cached_property
    def head_values(self) -> tuple[Tensor, ...]:
        """For each block [example head key width]: what a head would add to a piece that looked at this key alone.

        The key's value through the block's output projection. Raises `ModelCannot` where that is not found.
        """
        with torch.no_grad():
            trace = self._run(Want(attention=True, head_values=True))
        if len(trace.head_values) != len(trace.attention):
            raise ModelCannot(
                f"In {self.model.name} the heads' values do not go through one linear map at the end of a block; use "
                "attention or attention_gradient."
            )
        return trace.head_values

    @cached_property
    def read(self) -> Tensor:
        """[example unit]: the positions that the classification head reads, equally weighted; rows sum to 1.

        Those whose last hidden state has a gradient by some mixture of the logits: the first for BERT, the last for
        decoders, all where the head pools the mean; all pieces too where every gradient is 0.
        """
        trace = self.trace
        mixture = trace.logits @ torch.arange(1, trace.logits.shape[-1] + 1).to(trace.logits)
        (slope,) = torch.autograd.grad(mixture.sum(), trace.hidden[-1], retain_graph=True)
        touched = (slope != 0).any(-1)
        real = torch.zeros_like(touched)
        for number, length in enumerate(self.batch.lengths):
            real[number, :length] = True
        shares = torch.where(touched.any(-1, keepdim=True), touched, real).to(slope)
        return shares / shares.sum(-1, keepdim=True)

    @cached_property
    def quick(self) -> Trace:
        """The forward pass without a graph: logits and, for self-explaining models, their own weights."""
        with torch.no_grad():
            return self._run(Want())

    def _run(self, want: Want) -> Trace:
        return self.model.trace(self.batch.rows, want, self.embeddings, self.layer)

    @cached_property
    def _shallow(self) -> Trace:
        """A forward pass without a graph that leaves its hidden states behind."""
        with torch.no_grad():
            return self._run(Want(hidden=True))

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

    @property
    def number_type(self) -> torch.dtype:
        """The shortest type that gradients went through; they are given in float32 at least."""
        return number_type(self.model, self.words.dtype)

    def gradient(self, target: Explainable, layer: int | None = None) -> Tensor:
        """[example unit width]: the target's gradient by the word embeddings, or by a hidden state."""
        self._check(layer)
        return widened(self._slopes(target)[0 if layer is None else layer + 1])

    def attention_gradient(self, target: Explainable) -> tuple[Tensor, ...]:
        """For each block [example head query key]: the target's gradient by the attention weights."""
        if not self.open_attention:
            return replace(self, open_attention=True, _gradients={}).attention_gradient(target)
        return self._slopes(target)[1 + len(self.trace.hidden) :]

    def _slopes(self, target: Explainable) -> tuple[Tensor, ...]:
        """The target's gradient by the word embeddings, every hidden state and, if open, every attention weight."""
        if target not in self._gradients:
            keep = self.embeddings is None  # another target, or a layer, may be asked of the same pass
            deep = self.trace.hidden if keep or self.layer is not None else ()
            shares = () if self.policy is None else self.ledger.shares.values()
            points = [self.trace.words, *deep, *(self.trace.attention if keep else ()), *shares]
            value = target.values(target.reading.answers(self.trace, self.batch.rows)).sum()
            found = torch.autograd.grad(value, points, retain_graph=keep, allow_unused=True)
            self._gradients[target] = tuple(
                torch.zeros_like(point) if slope is None else slope
                for point, slope in zip(points, found, strict=True)
            )
        return self._gradients[target]

    def pulled(self, reading: Reading, weights: Tensor) -> Tensor:
        """[example unit width]: the gradient by the word embeddings of answers weighted [example answer]."""
        answers = reading.answers(self.trace, self.batch.rows)
        return widened(torch.autograd.grad(answers, self.trace.words, weights.to(answers))[0])

    def absorbed(self, target: Explainable) -> dict[str, Tensor]:
        """For each account of the ledger [example]: the relevance that went there."""
        shares = self._slopes(target)[-len(self.ledger.shares) :]
        return dict(zip(self.ledger.shares, shares, strict=True))

    def under(self, policy: str, **settings: Any) -> "ForwardPass":
        """The same pass with a relevance policy's backward rules; its gradient x input is relevance."""
        entry = policies.get(policy)
        call = Call(entry, entry.settings(settings), policy)
        return replace(self, open_attention=False, policy=call, _gradients={})

    def at(self, embeddings: Tensor, layer: int | None = None) -> "ForwardPass":
        """The same rows at another point of word-embedding space, or of a layer's hidden states."""
        return ForwardPass(self.model, self.batch, self.scheduler, self.seed, embeddings.detach(), layer)

    def part(self, indices: Sequence[int]) -> "ForwardPass":
        """The same point of word-embedding space for some of the examples only."""
        batch = self.batch.select(indices)
        words = self.words[list(indices), : max(batch.lengths)]
        return ForwardPass(self.model, batch, self.scheduler, self.seed, words)

    def alone(self, number: int) -> "ForwardPass":
        """One example by itself, under the same policy."""
        batch, here = self.batch.select([number]), self.embeddings
        if here is not None:
            here = here[[number], : max(batch.lengths)]
        return replace(self, batch=batch, embeddings=here, _gradients={})

    def state(self, layer: int | None) -> Tensor:
        """[example unit width]: the word embeddings here, or a hidden state."""
        self._check(layer)
        if self.embeddings is None:
            return self.words if layer is None else self.hidden[layer]
        if layer is None:
            return self.embeddings
        return self._shallow.hidden[layer]

    def _check(self, layer: int | None) -> None:
        if layer is None:
            return
        if "hidden_states" not in self.model.capabilities:
            raise ModelCannot(
                f"layer={layer} needs hidden_states, which {self.model.name} does not have; leave layer away to read the "
                "word embeddings."
            )
        between("layer", layer, 0, self.model.n_layers)

    def slopes(
        self,
        target: Explainable,
        owners: Sequence[int],
        at: Callable[[list[int]], Tensor],
        layer: int | None = None,
    ) -> Iterator[tuple[list[int], Tensor]]:
        """The target's gradients at many points: (numbers of points, their gradients [point unit width]), pass by pass.

        owners: the example of each point. at: numbers of points -> [point unit width], where they lie. Points are made
        when their pass comes, so memory does not grow with their number. Those of one text are neighbours in passes as
        large as the scheduler allows, so there is next to no padding; a pass is cropped to its longest text.
        """

        def run(numbers: list[int]) -> tuple[list[int], Tensor]:
            examples = [owners[number] for number in numbers]
            batch = self.batch.select(examples)
            point = at(numbers)[:, : max(batch.lengths)].detach()
            here = ForwardPass(self.model, batch, self.scheduler, self.seed, point, layer)
            return numbers, here.gradient(target.select(examples), layer)

        for pack in self.scheduler.packs_of([self.batch.rows[owner] for owner in owners]):
            yield from self.scheduler.halving(pack, run)

    def blank(self, baselines: Baseline) -> Tensor:
        """[example unit width]: the text's embeddings with every content token blanked, special tokens kept."""
        blank = blank_vector(self.model, baselines, self.words[0, 0])
        return torch.where(self.content[..., None], blank, self.words)

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
        return target.values(widened(self.answers(target.reading)))

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

    dtype = torch.float32

    def run(pack: list[Row]) -> Tensor:
        nonlocal dtype
        with torch.no_grad():
            answers = reading.answers(model.trace(pack, reading.want), pack).cpu()
        dtype = answers.dtype
        return answers if dtype == torch.float64 else answers.float()

    def check(together: Tensor, alone: Tensor) -> None:
        check_edited(model, together, alone, dtype)

    readable = [rows_of(row) for row in rows]
    answers = scheduler.evaluate([row for found in readable for row in found], run, reading.key, check)
    return torch.stack([found.mean(0) for found in answers.split([len(found) for found in readable])])
