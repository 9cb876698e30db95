"""How a pretrained encoder is changed: at which rates each part learns, what stays as it was, and without which dropout."""

from itertools import accumulate

import torch
from torch import Tensor

from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.families.probes import set_dropout
from pellucid.training.recipe import Recipe


def prepare(classifier: Classifier, recipe: Recipe) -> None:
    """Set the encoder's dropout, and keep its word vectors from learning, as the recipe says."""
    if recipe.dropout is not None:
        set_dropout(classifier.network.encoder, recipe.dropout)
    if recipe.freeze_vectors:
        for parameter in classifier.network.encoder.get_input_embeddings().parameters():
            parameter.requires_grad_(False)


def optimizer_of(classifier: Classifier, recipe: Recipe) -> torch.optim.Optimizer:
    """AdamW; no weight decay for biases and norms, a rate of their own for new parts and for each of the encoder's blocks."""
    depths = {} if recipe.layer_decay == 1 else depths_below_the_top(classifier)
    groups: dict[tuple[bool, int, bool], list[Tensor]] = {}
    for name, parameter in classifier.network.named_parameters():
        if parameter.requires_grad:
            key = (name.startswith("encoder."), -depths.get(name, 0), parameter.ndim > 1)
            groups.setdefault(key, []).append(parameter)
    rates = [
        {
            "params": parameters,
            "lr": recipe.learning_rate
            * (recipe.layer_decay**-depth if pretrained else recipe.new_parts_factor),
            "weight_decay": recipe.weight_decay if matrix else 0.0,
        }
        for (pretrained, depth, matrix), parameters in sorted(groups.items())
    ]
    # On a processor the unfused step took a third of MiniLM's training time, the fused one a tenth.
    return torch.optim.AdamW(rates, betas=(0.9, recipe.beta2), fused=True)


def depths_below_the_top(classifier: Classifier) -> dict[str, int]:
    """Parameter of the encoder -> how many blocks lie above it: 0 for the last block and what follows it.

    What stands in front of the first block, such as word vectors, lies below all of them. Raises `ModelCannot` where the
    encoder shows no blocks.
    """
    blocks = {
        id(parameter): n for n, block in enumerate(classifier.blocks) for parameter in block.parameters()
    }
    names = [
        (name, blocks.get(id(parameter)))
        for name, parameter in classifier.network.named_parameters()
        if name.startswith("encoder.")
    ]
    # Modules are listed in the order in which they were made: what lies between two blocks belongs to the lower one.
    reached = accumulate((-1 if block is None else block for _, block in names), max)
    return {name: len(classifier.blocks) - 1 - block for (name, _), block in zip(names, reached, strict=True)}
