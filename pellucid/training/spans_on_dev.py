"""The heaviest spans of some dev texts, after each epoch: a model may learn to classify and not to explain."""

from itertools import accumulate

from pellucid.core.passes.batch import Batch
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.results.heaviest_spans import NOT_COUNTED, HeaviestSpans, heaviest_span
from pellucid.core.spans.read_alone import read_alone, span_weights
from pellucid.models.classifiers.classifier import Classifier

MOST_TEXTS, MOST_PIECES = 64, 2**14  # so that it costs little beside an epoch, also with documents
RANDOM = 3  # random spans a text


def spans_on_dev(classifier: Classifier, dev: Batch) -> HeaviestSpans:
    """Counts over the first dev texts; none for a model without span weights."""
    if "span_weights" not in classifier.capabilities:
        return NOT_COUNTED
    numbers = _first(dev)
    scheduler = scheduler_for(classifier)
    packs = scheduler.packs_of([dev.rows[number] for number in numbers])
    batches = (dev.select([numbers[index] for index in pack]) for pack in packs)
    return sum((_of_pack(classifier, batch, scheduler) for batch in batches), NOT_COUNTED)


def _first(dev: Batch) -> list[int]:
    """The numbers of the first texts that fit one window, as many as cost little; at least one."""
    whole = [number for number, row in enumerate(dev.rows) if not row.windows][:MOST_TEXTS]
    pieces = accumulate(dev.lengths[number] for number in whole)
    fitting = [number for number, total in zip(whole, pieces, strict=True) if total <= MOST_PIECES]
    return fitting or whole[:1]


def _of_pack(classifier: Classifier, batch: Batch, scheduler: Scheduler) -> HeaviestSpans:
    run = ForwardPass(classifier, batch, scheduler)
    spans, weights = span_weights(run)
    readings = read_alone(run, spans, weights, RANDOM)
    counted = zip(batch.examples, spans, weights, readings, strict=True)
    return sum(
        (
            heaviest_span(example.segments, units, weight.float().cpu().numpy(), alone)
            for example, units, weight, alone in counted
        ),
        NOT_COUNTED,
    )
