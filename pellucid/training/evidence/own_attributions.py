"""What an attribution method says of a train text's present answer, part by part, while the model is trained."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import lacking
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from pellucid.training.evidence.drawn_spans import SpanReader
from pellucid.training.objective import ObjectiveContext

TOKENS = 8_192  # padded tokens of a pass; a step has fewer


class OwnAttributions:
    """Scores of train texts by one method, for the class that the model predicts now, without dropout.

    Raises `UnknownName` or `ModelCannot` for a method that does not exist or does not work with the model, `BadSetting` for one that scores
    something else than pieces.
    """

    def __init__(self, context: ObjectiveContext, method: str) -> None:
        self.context = context
        [self.call] = attributions.calls([method])
        if lacks := lacking(context.classifier, self.call.entry.facts["needs"]):
            raise ModelCannot(
                f"{method} does not work with {context.classifier.name}, which {lacks}; give a method that scores pieces, such as "
                "gradient_x_input."
            )
        self.reader = SpanReader(context.train)
        self._of_pieces([0])  # so that a method that scores no pieces is refused before the first step

    def of_parts(self, indices: Sequence[int], unit: str, width: int) -> Tensor:
        """[text part]: the sum of the scores of each part's pieces, less their mean over the text's parts; 0 where there is no part.

        indices: numbers of train texts. unit: "word" or "piece". width: of the result. Less the mean, a longer span does not win by words
        that say nothing.
        """
        scores = torch.zeros(len(indices), width, dtype=torch.float64)
        for line, index, pieces in zip(scores, indices, self._of_pieces(indices), strict=True):
            parts = [float(pieces[list(own)].sum()) for own in self.reader.pieces(index, unit)]
            line[: len(parts)] = torch.tensor(parts, dtype=torch.float64) - sum(parts) / max(1, len(parts))
        return scores

    def _of_pieces(self, indices: Sequence[int]) -> list[Tensor]:
        """For each text [piece], on the processor."""
        classifier = self.context.classifier
        batch = self.context.train.select(indices)
        opens = {"gradient", "attention"} <= self.call.entry.facts["needs"]
        with without_dropout(classifier.network), torch.enable_grad():
            forward = ForwardPass(classifier, batch, Scheduler(TOKENS), open_attention=opens)
            target = Target().resolve(batch.examples, forward.logits, classifier.labels, classifier.problem)
            scores = self.call(forward, target)
        if scores.units is not None or scores.rows or scores.rows_of:
            raise BadSetting(
                f"{self.call.title} does not score the pieces of a text; give another method, such as gradient_x_input or relevance."
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
