"""What a span model's heaviest spans are on some dev texts, each epoch: a model may learn to answer and not to explain."""

import json
from itertools import accumulate
from pathlib import Path

from pellucid.core.passes.batch import Batch
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.scheduler import Scheduler
from pellucid.core.results.heaviest_spans import NOT_COUNTED, HeaviestSpans, heaviest_span
from pellucid.core.spans.read_alone import read_alone
from pellucid.core.spans.span_weights import span_weights
from pellucid.models.classifiers.classifier import Classifier

MOST_TEXTS, MOST_PIECES = 64, 2**14  # so that it costs little beside an epoch, of documents too
RANDOM = 3  # random spans a text
RECORD = "heaviest_spans"


def spans_on_dev(classifier: Classifier, dev: Batch) -> HeaviestSpans:
    """Counts over the first dev texts; none of a model without span weights."""
    if "span_weights" not in classifier.capabilities:
        return NOT_COUNTED
    numbers = _first(dev)
    scheduler = scheduler_for(classifier)
    packs = scheduler.packs_of([dev.rows[number] for number in numbers])
    chosen = ([numbers[place] for place in pack] for pack in packs)
    return sum((_of_pack(classifier, dev.select(pack), scheduler) for pack in chosen), NOT_COUNTED)


def read_spans_on_dev(folder: Path) -> HeaviestSpans:
    """What the record of a trained folder says of its chosen epoch; none of an earlier version's, or without spans."""
    trained = json.loads((folder / "config.json").read_text(encoding="utf-8")).get("trained", {})
    return HeaviestSpans(**trained.get(RECORD, {}))


def _first(dev: Batch) -> list[int]:
    """The numbers of the first texts that are read at once, as many as cost little; at least one."""
    whole = [number for number, row in enumerate(dev.rows) if not row.windows][:MOST_TEXTS]
    pieces = accumulate(dev.lengths[number] for number in whole)
    fitting = [number for number, total in zip(whole, pieces, strict=True) if total <= MOST_PIECES]
    return fitting or whole[:1]


def _of_pack(classifier: Classifier, batch: Batch, scheduler: Scheduler) -> HeaviestSpans:
    run = ForwardPass(classifier, batch, scheduler)
    spans, weights = span_weights(run)
    alone = read_alone(run, spans, weights, RANDOM)
    counted = zip(batch.examples, spans, weights, alone, strict=True)
    return sum(
        (
            heaviest_span(example.segments, units, weight.float().cpu().numpy(), said)
            for example, units, weight, said in counted
        ),
        NOT_COUNTED,
    )
