"""Objectives about evidence that is read alone, or again."""

from collections.abc import Sequence

import torch
from torch import Tensor
from torch.nn import functional as F

from pellucid.base.checks import at_least, between, one_of
from pellucid.base.kinds import objectives
from pellucid.models.composed.networks import read_through
from pellucid.run.readout import jensen_shannon
from pellucid.run.rounding import widened
from pellucid.run.trace import SpanTrace
from pellucid.training.cut_texts import (
    TextDraws,
    answer_divergence,
    log_answers,
    logits_of,
    part_weights,
    pooled_by_all_spans,
    texts_read_again,
)
from pellucid.training.drawn_spans import (
    READINGS,
    Reading,
    SecondReading,
    SecondReadings,
    SpanReader,
    drawn_spans,
    reinforced_costs,
)
from pellucid.training.objective import ObjectiveContext, StepPart
from pellucid.training.training_loss import TrainingLoss, balancing_weights, gold_numbers

DRAWS = 2  # of a text in a step: each is the other's baseline


@objectives.add("read_alone", reads="spans")
class ReadAlone:
    """Kullback-Leibler divergence, in nats, from the text's answer to the answer to drawn spans alone; two draws a
    text.

    What the model answers to its heaviest spans alone is what it answers to the whole text.

    Source: Sufficiency of DeYoung et al. (2020), "ERASER", as something to learn: the spans are drawn
    by their weights, and the draw learns by REINFORCE (Williams 1992) with the other draw as baseline
    (Kool, van Hoof & Welling 2019).

    The text's answer is the aim and does not learn from this. The words outside the spans are absent; where both draws
    are the same spans, they are read once. A text without spans costs 0.

    n_spans: how many spans are drawn and read together, 1 or more.
    share: of the texts that are read in a step, 0.01 to 1; the others cost 0, these count more.
    """

    def __init__(self, context: ObjectiveContext, *, n_spans: int = 1, share: float = 1.0) -> None:
        at_least("n_spans", n_spans, 1)
        self.context, self.n_spans = context, n_spans
        self.draws = TextDraws("read_alone", context.recipe.seed, share)
        self.reader = SpanReader(context.train)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        again = texts_read_again(self.context, self.draws, part)
        if not again.numbers:
            return part.output.logits.new_zeros(len(part.indices))
        points = self.draws.points(again.rows, part.done, DRAWS * self.n_spans)
        drawn = [drawn_spans(again.spans, some) for some in points.split(self.n_spans, dim=1)]
        aims = log_answers(part.output.logits[again.numbers].detach(), self.context.classifier.problem)
        costs = torch.stack(self._costs(again.indices, again.spans.unit, [each.parts for each in drawn], aims))
        chances = torch.stack([each.log_chance for each in drawn])
        # The mean of the other draws, of which there is one.
        return self.draws.for_examples(
            reinforced_costs(costs, costs.flip(0), chances).mean(0), again.numbers, len(part.indices)
        )

    def _costs(
        self, indices: list[int], unit: str, drawn: list[Sequence[frozenset[int]]], aims: Tensor
    ) -> list[Tensor]:
        """For each draw [example]: how far the answers to the drawn parts lie from the aims."""
        keys = {key: None for parts in drawn for key in zip(indices, parts, strict=True)}
        rows = [self.reader.only(index, unit, parts) for index, parts in keys]
        answers = log_answers(logits_of(self.context, rows), self.context.classifier.problem)
        order = {key: row_index for row_index, key in enumerate(keys)}
        return [
            answer_divergence(aims, answers[[order[key] for key in zip(indices, parts, strict=True)]])
            for parts in drawn
        ]


@objectives.add("answer_by_all_spans", reads="spans", pooler_setting="n_heaviest")
class AnswerByAllSpans:
    """The labels' cross-entropy, in nats, of the answer by all legal spans, from the states that the step has read; no
    further pass.

    Where the heaviest spans alone decide, the answer that all spans would give learns the labels as
    well.

    Source: Through the heaviest spans alone the labels reach few states, and never the spans that were
    not used; so the encoder learns less from a text. As deep supervision does (Lee et al. 2015), a
    second answer, which nobody is shown, brings the whole text's gradient back.

    Labels are smoothed and classes weighed as the recipe says.
    """

    def __init__(self, context: ObjectiveContext) -> None:
        classifier, recipe = context.classifier, context.recipe
        self.context = context
        self.gold = gold_numbers(context.train.examples, classifier.labels, classifier.problem)
        weights = balancing_weights(self.gold, len(classifier.labels)) if recipe.balanced else None
        self.labels = TrainingLoss(classifier.problem, {}, smoothing=recipe.label_smoothing, class_weights=weights)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more."""
        head = self.context.classifier.network.head
        logits = head(pooled_by_all_spans(self.context, part).vector.to(head.weight.dtype))
        return self.labels.label_loss(logits, self.gold[list(part.indices)].to(logits.device))


SMALLEST = 1e-6  # of a text's largest weight


@objectives.add("soft_sufficiency", reads="weights")
class SoftSufficiency:
    """Kullback-Leibler divergence, in nats, from the text's answer to the answer to the faded text.

    A text whose words fade by their weights gets the text's answer.

    Source: After the metric of Zhao and Aletras (2023), "Incorporating Attribution Importance for
    Improving Faithfulness Metrics", which draws the numbers of an embedding that stay; here each word's
    embedding is multiplied by the chance to stay, so that weights have gradients and nothing is drawn.

    A unit's embedding is multiplied by its weight as a share of the text's largest one; a unit of a model with spans
    weighs as much as all spans that it lies in. Special tokens stay. The text's answer is the aim and does not learn
    from this.

    share: of the texts that are read in a step, 0.01 to 1; the others cost 0, these count more.
    """

    def __init__(self, context: ObjectiveContext, *, share: float = 1.0) -> None:
        self.context = context
        self.draws = TextDraws("soft_sufficiency", context.recipe.seed, share)
        self.reader = SpanReader(context.train)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 or more, in nats."""
        numbers = self.draws.sampled(self.context.rows(part.indices), part.done)
        if not numbers:
            return part.output.logits.new_zeros(len(part.indices))
        classifier, problem = self.context.classifier, self.context.classifier.problem
        indices = [part.indices[index] for index in numbers]
        gates = self.gates(part, numbers, indices)
        with (
            self.context.autocast(),
            read_through(classifier.network.get_input_embeddings(), gates),
        ):
            faded = classifier.network(**classifier.place(self.context.rows(indices))).logits
        aims = log_answers(part.output.logits[numbers].detach(), problem)
        losses = answer_divergence(aims, log_answers(faded, problem))
        return self.draws.for_examples(losses, numbers, len(part.indices))

    def gates(self, part: StepPart, numbers: Sequence[int], indices: Sequence[int]) -> Tensor:
        """[text piece]: how much of each piece's embedding stays, 0 to 1; 1 for what is no unit."""
        trace = part.output.units if part.output.spans is None else part.output.spans
        assert trace is not None  # the pooler was checked
        weights = widened(part_weights(trace)[list(numbers)])
        shares = weights / weights.amax(1, keepdim=True).clamp_min(SMALLEST)
        rows = self.context.rows(indices)
        places = torch.full((len(rows), max(map(len, rows))), shares.shape[1], dtype=torch.long)
        for line, index in zip(places, indices, strict=True):
            for unit, pieces in enumerate(self.reader.pieces(index, trace.unit)):
                line[list(pieces)] = unit
        whole = torch.cat([shares, shares.new_ones(len(rows), 1)], 1)  # the last one is of special tokens and padding
        return whole.gather(1, places.to(whole.device))


HIGHEST_SHARE = 0.9


@objectives.add("same_spans", reads="spans")
class SameSpans:
    """Jensen-Shannon divergence, in nats, of the span weights of two readings; 0 to log 2.

    Two readings of a text choose alike, also where words that do not matter differ.

    Source: Liang et al. (2021), "R-Drop", ask this of the answers under two dropouts; here it is asked
    of the weights of spans. Their distance is symmetric; so is ours, the Jensen-Shannon divergence,
    which is at most log 2.

    The second reading has another dropout, and differs outside the heaviest span. Both readings learn. A text without
    spans costs 0.

    reading: "hidden", some words are masked (the pad token where there is no mask token); "synonyms", some words are
    exchanged for WordNet's most frequent synonyms where the text keeps its number of words (or pieces, where spans are
    made of these); "window", only neighbouring words are read, and compared are the weights of the spans among them, as
    shares of their sum. hidden: share of a text's words (or pieces) that the second reading does not see or that it
    exchanges, at least one where there is one outside the heaviest span; 0 for dropout alone, to 0.9.
    share: of the texts that are read twice in a step, 0.01 to 1; the others cost 0, these count more.
    Raises `BadSetting` for synonyms where WordNet is not installed.
    """

    def __init__(
        self,
        context: ObjectiveContext,
        *,
        reading: Reading = "hidden",
        hidden: float = 0.15,
        share: float = 1.0,
    ) -> None:
        one_of("reading", reading, READINGS)
        between("hidden", hidden, 0, HIGHEST_SHARE)
        self.context = context
        self.draws = TextDraws("same_spans", context.recipe.seed, share)
        self.readings = SecondReadings(context, reading, hidden)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 to log 2 divided by the share, in nats."""
        again = texts_read_again(self.context, self.draws, part)
        if not again.numbers:
            return part.output.logits.new_zeros(len(part.indices))
        others = self.second_readings(again.indices, again.spans, part.done)
        classifier = self.context.classifier
        with self.context.autocast():
            second = classifier.network(**classifier.place([reading.row for reading in others])).spans
        weights = widened(second.weights)
        first = weights_from(widened(again.spans.weights), [reading.first for reading in others], second)
        divergences = jensen_shannon(first.flatten(1), weights.flatten(1))
        return self.draws.for_examples(divergences, again.numbers, len(part.indices))

    def second_readings(self, indices: Sequence[int], trace: SpanTrace, done: int) -> list[SecondReading]:
        """How the texts are read the second time. trace: the weights of the first."""
        width = trace.scores.shape[-1]
        heaviest = trace.scores.detach().flatten(1).argmax(1).tolist()
        return [
            self.readings.second_reading(
                index,
                trace.unit,
                range(best // width, best % width + 1),
                self.draws.points([row], done, len(row))[0].tolist(),
            )
            for index, best, row in zip(indices, heaviest, self.context.rows(indices), strict=True)
        ]


def weights_from(weights: Tensor, firsts: Sequence[int], second: SpanTrace) -> Tensor:
    """[text first last]: the first reading's weights of the spans that the second has, as shares of their sum; both
    count parts from 0.

    weights: [text first last], of whole texts. firsts: of each text the part with which the second reading begins.
    """
    size = second.scores.shape[-1]
    ends = torch.tensor(firsts, device=weights.device)[:, None] + torch.arange(size, device=weights.device)
    padded = F.pad(weights, (0, size, 0, size))  # a window near the end is shorter than the longest one
    texts = torch.arange(len(weights), device=weights.device)[:, None, None]
    counts = torch.tensor(second.parts, device=weights.device)[:, None]
    is_read = torch.arange(size, device=weights.device) < counts
    # Not by the second one's scores: a pooler that reads the heaviest spans alone may have chosen others there.
    within = padded[texts, ends[:, :, None], ends[:, None, :]].where(is_read[:, :, None] & is_read[:, None, :], 0)
    return within / within.sum((1, 2), keepdim=True)  # above 0: the heaviest span lies within
