"""A classifier with a part of its weights in random order: what it learnt there is lost, the sizes stay.

Adebayo et al. (2018), "Sanity Checks for Saliency Maps", section 3. They draw weights anew as a network begins; how it began is
not known of a trained one, so ours are permuted, tensor by tensor.
"""

import torch
from torch import Tensor

from pellucid.core.passes.model import Model
from pellucid.core.passes.seeds import derived_seed
from pellucid.models.changed.network_copy import network_copy
from pellucid.models.classifiers.classifier import Classifier


def with_random_weights(model: Model, first: float, last: float, seed: int) -> Classifier:
    """The weights of the parts in this range in random order.

    first, last: shares of the parts, counted from the head (0) over the blocks, highest first, to the word vectors (1). seed: of
    the order, which for each tensor depends on its name too. Raises `ModelCannot` for a function of texts.
    """
    classifier = network_copy(model, "to randomise")
    parts = parts_from_the_head(classifier)
    begin, end = round(first * len(parts)), round(last * len(parts))
    with torch.no_grad():
        for part in parts[begin:end]:
            for name, parameter in part.items():
                parameter.copy_(_permuted(parameter, name, seed))
    return classifier


def parts_from_the_head(classifier: Classifier) -> list[dict[str, Tensor]]:
    """The network's parameters by part: what follows the last block, each block, and what stands before the first.

    A network that shows no blocks has a part for each of its parameters, the last one first.
    """
    parameters = dict(classifier.network.named_parameters())
    blocks = classifier.structure.blocks
    if blocks is None:
        return [{name: parameter} for name, parameter in reversed(parameters.items())]
    owner = {id(parameter): number for number, block in enumerate(blocks) for parameter in block.parameters()}
    groups: dict[int, dict[str, Tensor]] = {number: {} for number in range(-1, len(blocks) + 1)}
    reached = -1  # modules are listed in the order in which they were made
    for name, parameter in parameters.items():
        number = owner.get(id(parameter))
        reached = reached if number is None else max(reached, number)
        above = len(blocks) if reached == len(blocks) - 1 else -1
        groups[above if number is None else number][name] = parameter
    return [groups[number] for number in range(len(blocks), -2, -1) if groups[number]]


def _permuted(parameter: Tensor, name: str, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(derived_seed(seed, "random weights", name))
    order = torch.randperm(parameter.numel(), generator=generator).to(parameter.device)
    return parameter.reshape(-1)[order].reshape(parameter.shape)
