"""One part of a comparison: its examples explained by every method, and the explanations judged by every metric."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from pellucid.core.explaining.explaining import explain_batch
from pellucid.core.foundation.progress import Progress
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.heaviest_spans import heaviest_spans
from pellucid.core.text.units import Spans
from pellucid.evaluation.comparison.comparison import Comparison
from pellucid.evaluation.comparison.judged_part import JudgedPart
from pellucid.evaluation.comparison.judging import judge_part

STAGE = "comparing"


@dataclass(frozen=True)
class ComparedPart:
    """explanations: method's title -> one an example. judged: the metrics' values for them."""

    explanations: Mapping[str, Sequence[Explanation]]
    judged: JudgedPart


def compared_part(comparison: Comparison, number: int, progress: Progress) -> ComparedPart:
    """Explain and judge the examples of one part; what was done for other parts changes nothing."""
    told = _within(comparison, number, progress)
    model = comparison.request.model
    batch = model.encode([comparison.examples[place] for place in comparison.places(number)])
    scheduler = scheduler_for(model)
    explanations = explain_batch(comparison.request, batch, scheduler, told)
    judged = judge_part(comparison, batch, explanations, scheduler, told)
    weighed = [found for found in explanations.values() if isinstance(found[0].units, Spans)]
    if weighed:  # the model's own weights are the same by any settings
        judged = replace(judged, heaviest=heaviest_spans(weighed[0]))
    return ComparedPart(explanations, judged)


def _within(comparison: Comparison, number: int, progress: Progress) -> Progress:
    """Progress in one part, told as progress in all examples: half of a part is explaining, half is judging."""
    places, total = comparison.places(number), len(comparison.examples)

    def told(stage: str, done: int, of: int) -> None:
        halves = done / of + (stage == "judging")
        progress(STAGE, places.start + int(len(places) * halves / 2), total)

    return told
