"""Whether texts are short enough to be trained on, checked before training begins."""

from pellucid.core.foundation.errors import BadInput
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.windows import rows_of
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.joined_windows import LONGEST
from pellucid.models.pooling.unit_vectors import n_units


def check_lengths(train: Batch, classifier: Classifier) -> None:
    """Raise `BadInput` for texts of several windows: training reads each text as one; means over windows are for explaining."""
    long = [example.id for example, row in zip(train.examples, train.rows, strict=True) if row.windows]
    if long:
        raise BadInput(
            f"{len(long):,} of the training texts are longer than the {classifier.max_length} pieces that {classifier.name} reads "
            f"as one (first: {long[0]!r}); {_way_out(classifier)}split them or leave them out."
        )


def check_units(split: str, batch: Batch, classifier: Classifier) -> None:
    """Raise `BadInput` for texts of more units than the pooler takes: some poolers need all span vectors in memory."""
    pooler = classifier.network.pooler
    most = pooler.most_units
    if most is None:
        return
    counts = [max(n_units(read, pooler.unit) for read in rows_of(row)) for row in batch.rows]
    long = [number for number, count in enumerate(counts) if count > most]
    if long:
        raise BadInput(
            f"{len(long)} {split} texts have more than {most} {pooler.unit}s (first: {batch.examples[long[0]].id!r} with "
            f"{counts[long[0]]}); with interaction={pooler.interaction!r} every span vector is held at once. Give "
            "interaction='factored' (--pooler-set interaction=factored), split the texts or leave them out."
        )


def _way_out(classifier: Classifier) -> str:
    """How this classifier could read longer texts; nothing for one that reads the most there is."""
    if classifier.max_length >= LONGEST:
        return ""
    return f"give max_length (--max-length), at most {LONGEST}, to read longer texts in windows that are joined, or "
