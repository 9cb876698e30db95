"""The blocks of BERT and of the families that keep its parts' names: RoBERTa, XLM-R, ELECTRA."""

from operator import attrgetter
from typing import Any

from torch import nn

PARTS = ("attention.self.query", "attention.output.dense", "intermediate", "output.dense", "output.LayerNorm")


def bert_layers(network: nn.Module) -> list[Any]:
    """The modules made of BERT's parts; none in other families."""
    return [module for module in network.modules() if all(_has(module, part) for part in PARTS)]


def _has(module: nn.Module, part: str) -> bool:
    try:
        return isinstance(attrgetter(part)(module), nn.Module)
    except AttributeError:
        return False
