"""The attention family written out slowly and literally, for one text of a Hugging Face classifier.

Maps are those that the network itself returns when it computes attention openly; one loop a formula.
"""

import numpy as np
import torch
from torch import Tensor

from tests.reference.attributions import inputs_of

# Where a block keeps the map that makes values and the one that the joined heads go through.
_BERT = ("attention.self.value", "attention.output.dense")
_DEBERTA = ("attention.self.value_proj", "attention.output.dense")
_LLAMA = ("self_attn.v_proj", "self_attn.o_proj")
MODULES = {
    "bert": _BERT,
    "roberta": _BERT,
    "electra": _BERT,
    "xlm_roberta": _BERT,
    "distilbert": ("attention.v_lin", "attention.out_lin"),
    "albert": ("attention.value", "attention.dense"),
    "mpnet": ("attention.attn.v", "attention.attn.o"),
    "deberta_v2": _DEBERTA,
    "deberta_v3": _DEBERTA,
    "modernbert": ("attn.Wqkv", "attn.Wo"),
    "gpt2": ("attn.c_attn", "attn.c_proj"),
    "llama": _LLAMA,
    "qwen2": _LLAMA,
}
FUSED = {"modernbert", "gpt2"}  # queries, keys and values come out of one map


def read_by(family: str, length: int) -> np.ndarray:
    """[unit]: what the head reads: the first token, the last, or the mean of all."""
    row = np.zeros(length)
    if family == "modernbert":  # the tiny one pools the mean
        return row + 1 / length
    row[-1 if family in ("gpt2", "llama", "qwen2") else 0] = 1
    return row


def attention_maps(classifier, segments) -> list[np.ndarray]:
    """For each block [head query key]."""
    with torch.no_grad():
        output = classifier.network(**inputs_of(classifier, segments), output_attentions=True)
    return [layer[0].double().numpy() for layer in output.attentions]


def attention_gradients(classifier, segments, label: int) -> list[np.ndarray]:
    """For each block [head query key]: the logit's gradient by the maps that the network returns."""
    with torch.enable_grad():
        output = classifier.network(**inputs_of(classifier, segments), output_attentions=True)
        gradients = torch.autograd.grad(output.logits[0, label], output.attentions)
    return [gradient[0].double().numpy() for gradient in gradients]


def last_layer(maps: list[np.ndarray], read: np.ndarray) -> np.ndarray:
    return read @ maps[-1].mean(0)


def rollout(maps: list[np.ndarray], read: np.ndarray) -> np.ndarray:
    """Abnar & Zuidema: the whole matrix, bottom to top, each block's mean and the residual half each."""
    flow = np.eye(maps[0].shape[-1])
    for layer in maps:
        flow = (layer.mean(0) + np.eye(len(flow))) / 2 @ flow
    return read @ flow


def tracing_mean(maps: list[np.ndarray], read: np.ndarray) -> np.ndarray:
    relevance = read
    for layer in reversed(maps):
        relevance = sum(relevance @ head for head in layer) / len(layer)
    return relevance


def tracing_chain(maps: list[np.ndarray], read: np.ndarray) -> np.ndarray:
    """Wu & Ong, equation 10, as their code runs it: head h feeds head h; divided by the number of heads."""
    total = np.zeros(maps[0].shape[-1])
    for head in range(len(maps[0])):
        relevance = read
        for layer in reversed(maps):
            relevance = relevance @ layer[head]
        total += relevance
    return total / len(maps[0])


def values_and_projections(classifier, family: str, segments) -> list[tuple[Tensor, Tensor]]:
    """For each run of a block: every piece's value [unit width], and the output map [width width], input first."""
    outputs: list[Tensor] = []
    value_name, projection_name = MODULES[family]
    handles = [
        block.get_submodule(value_name).register_forward_hook(lambda _, __, output: outputs.append(output[0]))
        for block in blocks_of(classifier, family)
    ]
    with torch.no_grad():
        classifier.network(**inputs_of(classifier, segments))
    for handle in handles:
        handle.remove()
    pairs = []
    for number, value in enumerate(outputs):
        block = blocks_of(classifier, family)[min(number, len(blocks_of(classifier, family)) - 1)]
        weight = block.get_submodule(projection_name).weight.detach()
        width = value.shape[-1] // 3 if family in FUSED else value.shape[-1]
        pairs.append((value[:, -width:], weight if family == "gpt2" else weight.T))
    return pairs


def blocks_of(classifier, family: str) -> list:
    """The blocks, by their names in each family."""
    network = classifier.network.base_model
    paths = {
        "distilbert": "transformer.layer",
        "albert": "encoder.albert_layer_groups.0.albert_layers",
        "modernbert": "layers",
        "gpt2": "h",
        "llama": "layers",
        "qwen2": "layers",
    }
    return list(network.get_submodule(paths.get(family, "encoder.layer")))


def norms(classifier, family: str, segments) -> list[np.ndarray]:
    """Kobayashi et al., equation 4 summed over heads: for each block [query key]."""
    matrices = []
    maps = attention_maps(classifier, segments)
    for layer, (value, projection) in zip(maps, values_and_projections(classifier, family, segments), strict=True):
        heads, length = len(layer), layer.shape[-1]
        size = projection.shape[0] // heads
        groups = projection.shape[0] // value.shape[-1]  # queries that share a key and its value
        matrix = np.zeros((length, length))
        for query in range(length):
            for key in range(length):
                sent = sum(
                    layer[head, query, key]
                    * value[key, head // groups * size : (head // groups + 1) * size]
                    @ projection[head * size : (head + 1) * size]
                    for head in range(heads)
                )
                matrix[query, key] = float(sent.norm())
        matrices.append(matrix)
    return matrices


def gradient_mean(maps, gradients, positive: bool) -> np.ndarray:
    """Attention times gradient, summed over queries, mean of heads and blocks."""
    total = np.zeros(maps[0].shape[-1])
    for layer, gradient in zip(maps, gradients, strict=True):
        for weights, of_head in zip(layer, gradient, strict=True):
            products = weights * of_head
            total += (np.maximum(products, 0) if positive else products).sum(0) / len(layer)
    return total / len(maps)


def gradient_rollout(maps, gradients, read: np.ndarray) -> np.ndarray:
    """Chefer, Gur & Wolf: R <- R + mean of heads' positive parts times R, bottom to top; less the start."""
    relevance = np.eye(maps[0].shape[-1])
    for layer, gradient in zip(maps, gradients, strict=True):
        relevance = relevance + np.maximum(layer * gradient, 0).mean(0) @ relevance
    return read @ (relevance - np.eye(len(relevance)))
