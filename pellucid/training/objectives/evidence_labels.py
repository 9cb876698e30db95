"""Objectives that hold evidence against words that people marked, or that a method names."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Literal, get_args

import torch
from torch import Tensor, nn

from pellucid.base.checks import at_least, one_of
from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.base.kinds import attributions, objectives
from pellucid.models.pooling.heaviest_alone import heaviest_apart
from pellucid.run.blank import derived_seed
from pellucid.run.explaining import opens_attention
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import lacking
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from pellucid.training.cut_texts import (
    TextDraws,
    inside,
    marked_parts,
    marked_pieces,
    overlapping,
    weights_of_all_spans,
)
from pellucid.training.drawn_spans import SpanReader
from pellucid.training.objective import ObjectiveContext, StepPart

Counted = Literal["inside", "overlapping"]


@objectives.add("marked", reads="spans", marks=True)
class Marked:
    """-log of the weight on spans of marked words; 0 in texts without marks, or without a span that counts.

    Where people marked the evidence in train texts, the weights lie on spans of it.

    Source: The supervision of attention by people's marks of Zhong, Shao & McKeown (2019),
    "Fine-grained Sentiment Analysis with Faithful Attention", for weights of spans: -log of the weight
    on them, the cross-entropy that asks nothing of how it is shared.

    Where the answer uses the heaviest spans alone, these are the weights that all spans would have: a text whose
    heaviest spans lie outside the marks teaches too.

    spans: which spans count, "inside" the marks or "overlapping" them.
    n_marked: how many of the marked train texts are learnt from, 1 or more, chosen by the seed; None: all.
    Raises `BadInput` where no train text has marks.
    """

    def __init__(self, context: ObjectiveContext, *, spans: Counted = "inside", n_marked: int | None = None) -> None:
        one_of("spans", spans, get_args(Counted))
        if n_marked is not None:
            at_least("n_marked", n_marked, 1)
        self.context, self.spans = context, spans
        self.marks = marked_pieces(context.train)
        marked_texts = [index for index, marks in enumerate(self.marks) if any(marks)]
        if not marked_texts:
            raise BadInput(
                "The objective marked learns from the words that people marked, and no train text has such marks; give "
                "data with rationales, or leave the objective away."
            )
        self.learnt = frozenset(sorted(marked_texts, key=self._rank)[:n_marked])

    def _rank(self, index: int) -> int:
        """Random, and the same however many texts there are: of 50 texts and of 200, the 50 are among the 200."""
        row = self.context.train.rows[index]
        return derived_seed(self.context.recipe.seed, "marked", row.ids, row.types)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        trace = weights_of_all_spans(self.context, part)
        marks = [self.marks[index] for index in part.indices]
        scores = trace.scores
        parts = marked_parts(self.context.rows(part.indices), marks, trace.unit, scores.device)
        fitting = inside(parts) if self.spans == "inside" else overlapping(trace, parts)
        lowest = torch.finfo(scores.dtype).min  # -inf alone in a row would give nan
        counted = fitting & (scores.detach() > float("-inf"))
        learnt = torch.tensor([index in self.learnt for index in part.indices], device=scores.device)
        learnt &= counted.any(2).any(1)
        weight = scores.masked_fill(~counted, lowest).flatten(1).logsumexp(1)
        return torch.where(learnt, trace.log_normaliser - weight, torch.zeros_like(weight))


@objectives.add("attributed", reads="spans")
class Attributed:
    """-log of the weight, in nats, of the spans with the highest attributions that share no word; the mean over these
    spans.

    The weights lie on the spans that an attribution method finds in the model's own answer.

    Source: A method that reads a text several times, or looks at the answer first, finds words without
    which the answer falls; here the weights learn to find them in the one pass that gives the answer.
    As Jethani et al. (2022), "FastSHAP: Real-Time Shapley Value Estimation", learn Shapley values; but
    what learns is the model itself, which then answers by these spans.

    A span's attribution is the sum over its words of what the method says of them, for the class that the model
    predicts now, less the text's mean word. Of further spans only those above 0 count. The method's scores are the aim
    and do not learn. Where the answer uses the heaviest spans alone, the weights are those that all spans would have.

    method: an attribution method that scores pieces. n_spans: how many spans, 1 or more. share: of the texts that are
    read in a step, 0.01 to 1; the others cost 0, these count more.
    Raises `UnknownName`, `ModelCannot` or `BadSetting` for a method that does not exist, does not work with the model
    or scores no pieces.
    """

    def __init__(
        self,
        context: ObjectiveContext,
        *,
        method: str = "attention_gradient",
        n_spans: int = 1,
        share: float = 1.0,
    ) -> None:
        at_least("n_spans", n_spans, 1)
        self.context, self.n_spans = context, n_spans
        self.draws = TextDraws("attributed", context.recipe.seed, share)
        self.attributions = OwnAttributions(context, method)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        numbers = self.draws.sampled(self.context.rows(part.indices), part.done)
        if not numbers:
            return part.output.logits.new_zeros(len(part.indices))
        trace = weights_of_all_spans(self.context, part)
        scores, normaliser = trace.scores[numbers], trace.log_normaliser[numbers]
        indices = [part.indices[index] for index in numbers]
        parts = self.attributions.of_parts(indices, trace.unit, scores.shape[-1]).to(scores.device)
        spans, nothing = heaviest_apart(worth_finding(parts, scores.detach() > -torch.inf), self.n_spans)
        costs = normaliser[:, None] - scores.flatten(1).gather(1, spans)
        costs = torch.where(nothing, torch.zeros_like(costs), costs)  # -inf - -inf of a text without spans
        losses = costs.sum(1) / (~nothing).sum(1).clamp_min(1)
        return self.draws.for_examples(losses, numbers, len(part.indices))


def worth_finding(parts: Tensor, legal: Tensor) -> Tensor:
    """[text first last]: the sums of the parts' scores of each legal span; -inf where it is not above 0, unless it is
    the text's highest.

    parts: [text part]. legal: [text first last] bool.
    """
    before = torch.nn.functional.pad(parts.cumsum(1), (1, 0))
    sums = (before[:, None, 1:] - before[:, :-1, None]).masked_fill(~legal, -torch.inf)
    highest = sums.amax((1, 2), keepdim=True)
    return sums.masked_fill((sums <= 0) & (sums < highest), -torch.inf)


# What an attribution method says of a train text's present answer, part by part, while the model is trained.

TOKENS = 8_192  # padded tokens of a pass; a step has fewer


class OwnAttributions:
    """Scores of train texts by one method, for the class that the model predicts now, without dropout.

    Raises `UnknownName` or `ModelCannot` for a method that does not exist or does not work with the model, `BadSetting`
    for one that scores something else than pieces.
    """

    def __init__(self, context: ObjectiveContext, method: str) -> None:
        self.context = context
        [self.call] = attributions.calls([method])
        if lacks := lacking(context.classifier, self.call.entry.facts["needs"]):
            raise ModelCannot(
                f"{method} does not work with {context.classifier.name}, which {lacks}; give a method that scores "
                f"pieces, such as gradient_x_input."
            )
        self.reader = SpanReader(context.train)
        self._of_pieces([0])  # so that a method that scores no pieces is refused before the first step

    def of_parts(self, indices: Sequence[int], unit: str, width: int) -> Tensor:
        """[text part]: the sum of the scores of each part's pieces, less their mean over the text's parts; 0 where
        there is no part.

        indices: numbers of train texts. unit: "word" or "piece". width: of the result. Less the mean, a longer span
        does not win by words that say nothing.
        """
        scores = torch.zeros(len(indices), width, dtype=torch.float64)
        for line, index, pieces in zip(scores, indices, self._of_pieces(indices), strict=True):
            parts = [float(pieces[list(piece)].sum()) for piece in self.reader.pieces(index, unit)]
            line[: len(parts)] = torch.tensor(parts, dtype=torch.float64) - sum(parts) / max(1, len(parts))
        return scores

    def _of_pieces(self, indices: Sequence[int]) -> list[Tensor]:
        """For each text [piece], on the processor."""
        classifier = self.context.classifier
        batch = self.context.train.select(indices)
        opens = opens_attention(self.call)
        with without_dropout(classifier.network), torch.enable_grad():
            forward = ForwardPass(classifier, batch, Scheduler(TOKENS), open_attention=opens)
            target = Target().resolve(batch.examples, forward.logits, classifier.labels, classifier.problem)
            scores = self.call(forward, target)
        if scores.units is not None or scores.rows or scores.rows_of:
            raise BadSetting(
                f"{self.call.title} does not score the pieces of a text; give another method, such as gradient_x_input "
                f"or relevance."
            )
        return [values.detach().double().cpu() for values in scores.values]


@contextmanager
def without_dropout(network: nn.Module) -> Iterator[None]:
    """Inside, the network answers as it does after training."""
    training = network.training
    network.eval()
    try:
        yield
    finally:
        network.train(training)
