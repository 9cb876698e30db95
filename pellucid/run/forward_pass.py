"""One batch under one model, lazily: what several methods read is computed once and shared.

All gradient methods and all layers together cost one forward and one backward pass.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import torch
from torch import Tensor

from pellucid.base.catalogue import Call
from pellucid.base.checks import quoted
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.kinds import policies
from pellucid.base.packages import cached_property
from pellucid.run.batch import Batch, Row
from pellucid.run.blank import Baseline, blank_vector, generator_for
from pellucid.run.model import Model, Scores, check_layer
from pellucid.run.parity import check_parity
from pellucid.run.policy_pass import PolicyPass
from pellucid.run.readout import LOGITS, Readout
from pellucid.run.rounding import Rounding, coarsest, rounding_of, widened
from pellucid.run.scheduler import Scheduler, evaluate_rows
from pellucid.run.target import Explainable
from pellucid.run.trace import KeepBlocks, Trace, every_block
from pellucid.run.traces import Traces, head_positions


@dataclass
class ForwardPass:
    """A batch under a model: `logits`, `embeddings`, `hidden[l]`, `attention[l]`, gradients, and edited rows.

    seed: of random draws. point: [example unit width], what the pass starts from instead of the model's own word
    embeddings. layer: with a layer, the point is that layer's hidden states. open_attention: whether attention weights
    are part of the graph, so that gradients by them can be computed.
    """

    model: Model
    batch: Batch
    scheduler: Scheduler
    seed: int = 0
    point: Tensor | None = None
    layer: int | None = None
    open_attention: bool = False
    _leading: tuple[str, Sequence[Baseline], PolicyPass] | None = field(default=None, init=False, repr=False)

    @cached_property
    def traces(self) -> Traces:
        """The runs of the network that this pass has needed so far."""
        return Traces(self.model, self.batch.rows, self.point, self.layer, self.open_attention)

    @property
    def trace(self) -> Trace:
        """The run with its graph: logits, word embeddings, hidden states and, with `open_attention`, attention."""
        return self.traces.with_graph

    @property
    def logits(self) -> Tensor:
        """[example logit], without a graph."""
        return self.answers(LOGITS)

    def answers(self, readout: Readout) -> Tensor:
        """[example answer]: what is read off the pass, without a graph."""
        if self._leading is not None and not readout.want.hidden:
            return self._leading[2].answers(readout)[: len(self.batch)]
        return readout.answers(self.traces.for_readout(readout), self.batch.rows).detach()

    @property
    def embeddings(self) -> Tensor:
        """[example unit width]: the word embeddings."""
        return self.traces.word_embeddings.detach()

    @property
    def hidden(self) -> tuple[Tensor, ...]:
        """For l = 0..L [example unit width]: hidden states; l = 0 is the first block's input."""
        return tuple(state.detach() for state in self.traces.with_states.hidden)

    def state(self, layer: int | None) -> Tensor:
        """[example unit width]: the word embeddings of this pass (None), or a hidden state."""
        check_layer(self.model, layer)
        if self.point is None:
            return self.embeddings if layer is None else self.traces.with_states.hidden[layer].detach()
        if layer is None:
            return self.point
        return self.traces.states.hidden[layer]

    @property
    def attention(self) -> Sequence[Tensor]:
        """For each block [example head query key]: the weights; rows sum to 1 over real keys."""
        return self.attention_of(every_block)

    def attention_of(self, keep: KeepBlocks) -> Sequence[Tensor]:
        """What `keep` makes of the blocks' attention weights; only that stays in memory."""
        return self._compared(self.traces.weights(keep)).attention

    @property
    def head_values(self) -> Sequence[Tensor]:
        """For each block [example head key width]: what a head adds to a piece that attends to this key alone."""
        return self.head_values_of(every_block)[1]

    def head_values_of(self, keep: KeepBlocks) -> tuple[Sequence[Tensor], Sequence[Tensor]]:
        """What `keep` makes of the blocks' attention weights, and of their head values, both of one run."""
        trace = self._compared(self.traces.weights(keep, head_values=True))
        return trace.attention, trace.head_values

    def _compared(self, trace: Trace) -> Trace:
        """A trace of a run beside this pass; raises `ParityBroken` where its logits are others."""
        check_parity(self.model, self.batch.examples, trace.logits.detach(), self.logits)
        return trace

    @cached_property
    def head_positions(self) -> Tensor:
        """[example unit]: the positions that the classification head reads, equally weighted; rows sum to 1."""
        return head_positions(self._compared(self.traces.of_head), self.batch)

    def read_positions(self, target: Explainable) -> Tensor:
        """[example unit]: the positions that the target's value is read from, equally weighted; rows sum to 1.

        A row from which nothing is read, since it has no such word, is 0.
        """
        pieces = target.pieces_read(self.batch.rows)
        if pieces is None:
            return self.head_positions
        shares = torch.zeros(len(pieces), max(self.batch.lengths))
        for line, read in zip(shares, pieces, strict=True):
            for piece in read:
                line[piece] += 1 / len(read)
        return shares.to(self.model.device)

    @cached_property
    def rounding(self) -> Rounding:
        """What rounding may change in the model as it computes now."""
        return rounding_of(self.model)

    @property
    def number_type(self) -> torch.dtype:
        """The coarsest number type that gradients went through; they are returned in float32 at least."""
        return coarsest([self.embeddings.dtype, self.rounding.dtype])

    def gradient(self, target: Explainable, layer: int | None = None, *, remember: bool = True) -> Tensor:
        """[example unit width]: the target's gradient by the word embeddings, or by a hidden state.

        remember: keep it for who asks for it again.
        Raises `BadSetting` for a state below the layer that this pass starts from.
        """
        check_layer(self.model, layer)
        if self.layer is not None and (layer is None or layer < self.layer):
            raise BadSetting(
                f"This pass starts from the states of layer {self.layer}; ask for the gradient by layer {self.layer} "
                f"or above."
            )
        gradients = self.traces.gradients if remember else self.traces.new_gradients
        return widened(gradients(target, hidden=layer is not None).by(layer))

    def attention_gradient(self, target: Explainable) -> Sequence[Tensor]:
        """For each block [example head query key]: the target's gradient by the attention weights."""
        if not self.open_attention:
            return replace(self, open_attention=True).attention_gradient(target)
        return self.traces.gradients(target).attention

    def of(self, examples: Sequence[int], point: Tensor, layer: int | None = None) -> "ForwardPass":
        """A pass over some of the examples, in this order; one that is named twice is there twice.

        point: [example unit width], for each named example where its pass starts; padding beyond the longest named
        example is cut off. layer: the point is that layer's states (None: word embeddings).
        """
        batch = self.batch.select(examples)
        point = point[:, : max(batch.lengths)].detach().contiguous()
        return ForwardPass(self.model, batch, self.scheduler, self.seed, point, layer)

    def at(self, point: Tensor, layer: int | None = None) -> "ForwardPass":
        """The same rows at another point of word-embedding space, or of a layer's hidden states."""
        return self.of(range(len(self.batch)), point, layer)

    def under(self, policy: str, **settings: object) -> PolicyPass:
        """The same pass under a relevance policy's backward rules; its gradient x input is relevance."""
        entry = policies.get(policy)
        call = Call(entry, entry.settings(settings), policy)
        return PolicyPass(self.model, self.batch, call, self.point)

    def above_blanks(self, policy: str, baselines: Sequence[Baseline], *, states: bool) -> PolicyPass:
        """The texts and, below them, each with every baseline in turn blanked, in one pass under a policy that pairs
        them, with or without hidden states; see `lead`.
        """
        if self._leading is not None and not states and self._leading[:2] == (policy, baselines):
            return self._leading[2]
        rows = [*range(len(self.batch))] * (1 + len(baselines))
        blanks = [self.blank(name) for name in baselines]
        point = torch.cat([self.embeddings, *blanks])
        above = self.of(rows, point).under(policy, n_baselines=len(baselines))
        return replace(above, states=states)

    def lead(self, policy: str, baselines: Sequence[Baseline]) -> None:
        """Let that pass give the texts' answers too, in place of a pass of their own; before anything else has run.

        Raises `ModelCannot` where the policy has no rule for the network.
        """
        _ = self.traces.words
        above = self.above_blanks(policy, baselines, states=False)
        _ = above.trace
        self._leading = (policy, baselines, above)

    def blank(self, baselines: Baseline) -> Tensor:
        """[example unit width]: the text's embeddings with every content token blanked, special tokens kept."""
        blank = blank_vector(self.model, baselines, self.embeddings[0, 0])
        return torch.where(self.content[..., None], blank, self.embeddings)

    @cached_property
    def content(self) -> Tensor:
        """[example unit] bool: True at text, False at special tokens and padding."""
        return self.batch.content_mask().to(self.model.device)

    def values(self, target: Explainable) -> Tensor:
        """[example]: each example's explained value in this pass, without a graph."""
        return target.values(widened(self.answers(target.readout)))

    def evaluate(self, variants: Sequence[Sequence[Row]], target: Explainable) -> list[Tensor]:
        """For each example [variant]: the explained values of its edited rows, computed through the scheduler."""
        rows = [row for of_example in variants for row in of_example]
        wide_head = self.rounding.wide_head
        answers = evaluate_rows(self.model, self.scheduler, rows, target.readout, wide_head=wide_head)
        parts = answers.split([len(of_example) for of_example in variants])
        values = [target.values_of(index, part) for index, part in enumerate(parts)]
        for example, of_example in zip(self.batch.examples, values, strict=True):
            if not of_example.isfinite().all():
                raise ModelCannot(
                    f"{self.model.name} gives no finite number for example {quoted(example.id)} with words taken out; "
                    f"what stands for them, such as the padding's embedding, may not be a number, or the class is "
                    f"ruled out then."
                )
        return values

    def generators(self, method: str) -> list[torch.Generator]:
        """One random generator an example, seeded from its content."""
        return [self.generator_of(example, method) for example in range(len(self.batch))]

    def generator_of(self, example: int, method: str) -> torch.Generator:
        """A new random generator of one example."""
        return generator_for(self.batch.rows[example], method, self.seed)

    def scores(self, padded: Tensor, **extras: tuple[Any, ...]) -> Scores:
        """A method's result from its padded scores [example unit]."""
        return Scores(self.batch.crop(padded.detach().cpu()), **extras)


# The target's gradients at many points, such as those of a path: packed like rows, each point computed just in time.
#
# Words that a model writes are targets of the same points: one pass forward serves all of them, and each has its own
# way back.

SHARED = 2**26  # numbers in the sums of targets that share their passes: a quarter of a gigabyte in float32
Add = Callable[[Tensor, list[int], Tensor], None]  # sums, numbers of points, their gradients


@dataclass(frozen=True, eq=False)
class Points:
    """owners: the example of each point. at: numbers of points -> [point unit width], called when their pass begins, so
    memory does not grow with the number of points. layer: points are that layer's states (None: word embeddings)."""

    owners: Sequence[int]
    at: Callable[[list[int]], Tensor]
    layer: int | None = None

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for equal points: their owners, and what the first of each example is."""
        firsts = [self.owners.index(owner) for owner in dict.fromkeys(self.owners)]
        digest = blake2b(self.at(firsts).detach().float().cpu().numpy().tobytes(), digest_size=16)
        return (self.layer, tuple(self.owners), digest.digest())


@dataclass(eq=False)
class SharedPoints:
    """Targets that one method explains one after another, and sums of those whose turn has not come yet."""

    targets: Sequence[Explainable] = ()
    waiting: dict[tuple[object, ...], Tensor] = field(default_factory=dict)

    def sums(
        self, run: ForwardPass, target: Explainable, points: Points, start: Callable[[], Tensor], add: Add
    ) -> Tensor:
        """See `sums_at`; the sums of the targets that follow are made on the same passes."""
        index = next(place for place, candidate in enumerate(self.targets) if candidate is target)
        key = points.key
        if (index, *key) not in self.waiting:
            sums = [start()]
            together = self.targets[index : index + max(1, SHARED // max(1, sums[0].numel()))]
            sums += [start() for _ in together[1:]]
            for numbers, gradients in _gradients_of_all(run, together, points):
                for target_sum, gradient in zip(sums, gradients, strict=True):
                    add(target_sum, numbers, gradient)
            self.waiting |= {(index + place, *key): total for place, total in enumerate(sums)}
        return self.waiting.pop((index, *key))


def sums_at(run: ForwardPass, target: Explainable, points: Points, start: Callable[[], Tensor], add: Add) -> Tensor:
    """Sums over all points of what is made of the target's gradients.

    start: a new tensor of zeros. add: adds to it what comes of the gradients [point unit width] of some points; both
    depend on the method alone and not on the target. Points of one text are neighbours in the packs, so there is little
    padding; a pass is cropped to its longest text.
    """
    shared = getattr(target, "shared_points", None)  # words and labels have it
    if shared is not None and any(candidate is target for candidate in shared.targets):  # and not its loss instead
        return shared.sums(run, target, points, start, add)
    sums = start()
    for numbers, (gradient,) in _gradients_of_all(run, [target], points):
        add(sums, numbers, gradient)
    return sums


def _gradients_of_all(
    run: ForwardPass, targets: Sequence[Explainable], points: Points
) -> Iterator[tuple[list[int], list[Tensor]]]:
    """For each pass: (numbers of its points, for each target their gradients [point unit width])."""

    def gradients(numbers: list[int]) -> tuple[list[int], list[Tensor]]:
        examples = [points.owners[point] for point in numbers]
        here = run.of(examples, points.at(numbers), points.layer)
        return numbers, [here.gradient(target.select(examples), points.layer, remember=False) for target in targets]

    for pack in run.scheduler.packs_of_texts([run.batch.rows[owner] for owner in points.owners]):
        yield from run.scheduler.halving(pack, gradients)
