"""Whether a network reads a text in both directions: tried, not looked up in a list of names."""

import torch

from pellucid.models.classifiers.classifier import Classifier
from pellucid.run.batch import Row
from pellucid.run.trace import Want


def reads_backwards(classifier: Classifier) -> bool:
    """Whether the first piece's last state knows the last of three pieces; a decoder's does not."""
    pieces = classifier.vocabulary.tolist()[:2]
    rows = [Row((pieces[0], pieces[0], last), (0,) * 3, (0, 1, 2), (0, 1, 2), (0,) * 3) for last in pieces]
    with torch.no_grad():
        one, other = classifier.trace(rows, Want(hidden=True)).hidden[-1][:, 0]
    return not torch.equal(one, other)
