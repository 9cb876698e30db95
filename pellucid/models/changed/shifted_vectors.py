"""A classifier whose word vectors are all shifted by one vector, and whose next table takes the shift back.

Kindermans et al. (2019), "The (Un)reliability of Saliency Methods", section 2: the function of the text is the same, so its
explanation has to be the same. They shift images and correct a bias; here a table that is added to the word vectors, of
positions or of token types, is corrected. Which table is added is tried, not looked up.
"""

import torch
from torch import nn

from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.passes.model import Model
from pellucid.core.passes.parity import residuals
from pellucid.core.passes.precision import TOLERANCE
from pellucid.models.changed.network_copy import network_copy
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hooks import evaluating


def with_shifted_vectors(model: Model, size: float, seed: int) -> Classifier:
    """All word vectors shifted by one random vector. size: its deviation, in deviations of the word vectors.

    Raises `ModelCannot` for a function of texts, and for a network without a table that is added to the word vectors.
    """
    classifier = network_copy(model, "to shift")
    words = classifier.embedding
    weight = getattr(words, "weight", None)
    if weight is None:
        raise ModelCannot(f"{model.name} shows no table of word vectors to shift.")
    generator = torch.Generator().manual_seed(seed)
    shift = torch.randn(weight.shape[1], generator=generator).to(weight) * size * weight.detach().std()
    before = _logits(classifier)
    with torch.no_grad():
        weight += shift
        for table in _tables(classifier, weight):
            table.weight -= shift
            if _same(before, _logits(classifier)):
                return classifier
            table.weight += shift
    raise ModelCannot(
        f"{model.name} adds no table of positions or token types to its word vectors, so a shift of them cannot be taken back."
    )


def _tables(classifier: Classifier, words: torch.Tensor) -> list[nn.Embedding]:
    """Other tables of vectors of the same width, the smallest first: few rows are read at every piece."""
    tables = [
        module
        for module in classifier.network.modules()
        if isinstance(module, nn.Embedding)
        and module.weight is not words
        and module.embedding_dim == words.shape[1]
    ]
    return sorted(tables, key=lambda table: table.num_embeddings)


def _logits(classifier: Classifier) -> torch.Tensor:
    with evaluating(classifier.network), torch.no_grad():
        return classifier.trace([classifier.facts.trial_row]).logits


def _same(one: torch.Tensor, other: torch.Tensor) -> bool:
    return bool((residuals(one.double(), other.double()) <= TOLERANCE[one.dtype]).all())
