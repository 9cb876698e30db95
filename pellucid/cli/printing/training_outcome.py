"""What `train` says at its end: how often the model is right, and what to try next."""

import warnings
from collections import Counter
from collections.abc import Sequence

from pellucid.api.data_source import DataSource
from pellucid.api.upgrading import right
from pellucid.core.foundation.errors import PellucidError
from pellucid.core.text.example import Example
from pellucid.core.text.label_map import label_names
from pellucid.datasets.shared.rows import SkippedRows
from pellucid.models.classifiers.classifier import Classifier
from pellucid.training.checkpoint import best_epoch
from pellucid.training.trained_folder import TrainedFolder

FEW = 50  # texts, of which one right answer more is two per cent
CLOSE = 0.05  # so near to the most frequent label's share the model has learnt little


def outcome(model: Classifier, folder: TrainedFolder, source: DataSource, options: str) -> list[str]:
    """The accuracy on the dev part, and on the test part where there is one, and what to try next.

    options: how the data are read, as the command line writes it.
    """
    history = folder.history
    best = best_epoch(history)
    dev = f"{_percent(history[best]['dev_accuracy'])} of the dev texts (epoch {best + 1} of {len(history)}, the best)"
    test = labelled_test_part(model, source)
    if not test:
        return [f"Accuracy: right in {dev}.", *_next(best == len(history) - 1, None, "")]
    share = sum(right(model, test)) / len(test)
    label, often = Counter(example.label for example in test).most_common(1)[0]
    common = often / len(test)
    few = f" Of {len(test)} texts this is a rough number." if len(test) < FEW else ""
    return [
        f"Accuracy: right in {dev} and {_percent(share)} of {len(test):,} test texts; always {label} would be right in "
        f"{_percent(common)} of these.{few}",
        *_next(
            best == len(history) - 1, share - common, f"pellucid errors {folder.path} {source.data}{options}"
        ),
    ]


def labelled_test_part(model: Classifier, source: DataSource) -> Sequence[Example]:
    """The labelled test texts; none where the data have none or they cannot be read."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SkippedRows)  # they were counted when the train part was read
            examples = source.with_split("test").training_part()
    except PellucidError:
        return ()
    names = [label_names(example.label, model.problem == "multi_label") for example in examples]
    return examples if all(own and {*own} <= {*model.labels} for own in names) else ()


def _next(last_is_best: bool, over_common: float | None, command: str) -> list[str]:
    """What to do about the accuracy, and the command that shows mistakes, where there are texts to show."""
    advice = []
    if over_common is not None and over_common < CLOSE:
        advice = [
            "It is not more often right than the most frequent label would be: try more texts, or more epochs (--epochs)."
            if over_common < 0
            else "It has learnt little more than the most frequent label: try more texts, or more epochs (--epochs)."
        ]
    elif last_is_best:
        advice = ["Its last epoch was the best: more of them may do better (--epochs, with a new --out)."]
    return [*advice, *([f"See its mistakes: {command} --html mistakes.html"] if command else [])]


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"
