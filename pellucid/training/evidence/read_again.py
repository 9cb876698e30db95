"""The texts of a training step that an objective about spans reads again: those that the draw chose and that have a span."""

from dataclasses import dataclass

from pellucid.core.passes.batch import Row
from pellucid.core.passes.trace import SpanTrace
from pellucid.training.evidence.drawn_spans import of_examples
from pellucid.training.evidence.text_draws import TextDraws
from pellucid.training.objective import ObjectiveContext, StepPart


@dataclass(frozen=True)
class ReadAgain:
    """numbers: places of the texts in the step's part. indices: their numbers among the train texts. rows, spans: theirs."""

    numbers: list[int]
    indices: list[int]
    rows: list[Row]
    spans: SpanTrace


def texts_read_again(context: ObjectiveContext, draws: TextDraws, part: StepPart) -> ReadAgain:
    """The texts of a step's part that are read again; there may be none."""
    spans = part.output.spans
    assert spans is not None  # the pooler was checked
    rows = context.rows(part.indices)
    has_span = spans.log_normaliser.isfinite().tolist()
    numbers = [number for number in draws.sampled(rows, part.done) if has_span[number]]
    return ReadAgain(
        numbers,
        [part.indices[number] for number in numbers],
        [rows[number] for number in numbers],
        of_examples(spans, numbers),
    )
