"""Same spans: two readings of a text choose alike, also where words that do not matter differ.

Liang et al. (2021), "R-Drop", ask this of the answers under two dropouts; here it is asked of the weights of spans. Their distance is
symmetric; so is ours, the Jensen-Shannon divergence, which is at most log 2.
"""

from torch import Tensor

from pellucid.core.foundation.checks import between
from pellucid.core.foundation.kinds import objectives
from pellucid.core.passes.batch import Operator, Row, edit
from pellucid.core.passes.divergences import jensen_shannon
from pellucid.core.passes.precision import widened
from pellucid.core.passes.trace import SpanTrace
from pellucid.training.evidence.drawn_spans import SpanReader
from pellucid.training.evidence.read_again import texts_read_again
from pellucid.training.evidence.text_draws import TextDraws
from pellucid.training.objective import ObjectiveContext, StepPart

HIGHEST_SHARE = 0.9


@objectives.add("same_spans", reads="spans")
class SameSpans:
    """Jensen-Shannon divergence, in nats, of the span weights of two readings; 0 to log 2.

    The second reading has another dropout, and the mask token in the place of some words outside the heaviest span (the pad token
    where there is no mask token). Both readings learn. A text without spans costs 0.

    hidden: share of a text's words (or pieces, where spans are made of these) that the second reading does not see, at least one where
    there is one outside the heaviest span; 0 for dropout alone, to 0.9.
    share: of the texts that are read twice in a step, 0.01 to 1; the others cost 0, these count more.
    """

    def __init__(self, context: ObjectiveContext, *, hidden: float = 0.15, share: float = 1.0) -> None:
        between("hidden", hidden, 0, HIGHEST_SHARE)
        self.context, self.hidden = context, hidden
        self.operator: Operator = "pad" if context.train.special.mask is None else "mask"
        self.draws = TextDraws("same_spans", context.recipe.seed, share)
        self.reader = SpanReader(context.train)

    def losses(self, part: StepPart) -> Tensor:
        """[example]: 0 to log 2 divided by the share, in nats."""
        again = texts_read_again(self.context, self.draws, part)
        if not again.numbers:
            return part.output.logits.new_zeros(len(part.indices))
        others = self.second_rows(again.indices, again.spans, part.done)
        classifier = self.context.classifier
        with self.context.autocast():
            second = classifier.network(**classifier.place(others)).spans
        size = second.scores.shape[-1]  # of the longest text that is read twice
        weights = [widened(each.weights[:, :size, :size]).flatten(1) for each in (again.spans, second)]
        return self.draws.for_examples(jensen_shannon(*weights), again.numbers, len(part.indices))

    def second_rows(self, indices: list[int], trace: SpanTrace, done: int) -> list[Row]:
        """The texts as the second reading sees them. trace: the weights of the first."""
        width = trace.scores.shape[-1]
        heaviest = trace.scores.detach().flatten(1).argmax(1).tolist()
        return [
            self._hiding(index, trace.unit, range(best // width, best % width + 1), done)
            for index, best in zip(indices, heaviest, strict=True)
        ]

    def _hiding(self, index: int, unit: str, heaviest: range, done: int) -> Row:
        row, pieces = self.context.train.rows[index], self.reader.pieces(index, unit)
        others = [part for part in range(len(pieces)) if part not in heaviest]
        if not others or not self.hidden:
            return row
        order = self.draws.points([row], done, len(others))[0].argsort().tolist()
        count = min(len(others), max(1, round(self.hidden * len(pieces))))
        removed = [piece for number in order[:count] for piece in pieces[others[number]]]
        return edit(row, removed, self.operator, self.context.train.special)
