"""Small random classifiers of the library's own mapping, one an architecture, as far as they can be built small."""

from copy import deepcopy
from typing import Any

import torch
from transformers import CONFIG_MAPPING, MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from pellucid.models.folders.library_network import new_network

WIDTH, LAYERS, HEADS = 32, 2, 4
SMALL: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "dim", "n_embd", "embed_dim", "emb_dim", "embedding_size"), WIDTH),
    **dict.fromkeys(("word_embed_proj_dim", "pooler_hidden_size", "hidden_dim", "d_embed"), WIDTH),
    **dict.fromkeys(("num_hidden_layers", "n_layers", "n_layer", "encoder_layers", "decoder_layers"), LAYERS),
    **dict.fromkeys(("num_layers", "num_decoder_layers", "n_encoder_layers"), LAYERS),
    **dict.fromkeys(("num_attention_heads", "n_heads", "n_head", "encoder_attention_heads"), HEADS),
    **dict.fromkeys(("decoder_attention_heads", "num_heads"), HEADS),
    **dict.fromkeys(("num_key_value_heads",), 2),
    **dict.fromkeys(("intermediate_size", "d_inner", "d_ff", "encoder_ffn_dim", "decoder_ffn_dim", "ffn_dim"), 48),
    **dict.fromkeys(("moe_intermediate_size", "shared_expert_intermediate_size", "n_inner"), 48),
    **dict.fromkeys(("head_dim", "d_head", "d_kv", "global_head_dim"), 8),
    **dict.fromkeys(("max_position_embeddings", "n_positions", "max_seq_len", "max_2d_position_embeddings"), 64),
    **dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts"), 4),
    **dict.fromkeys(("num_experts_per_tok",), 2),
    "vocab_size": 99,
}


def small_values(kind: str) -> dict[str, Any]:
    """The values of a small configuration: every one that the library writes."""
    config = CONFIG_MAPPING[kind]()
    _shrink(config)
    config = type(config)(**config.to_dict())  # lists that go with counts are made anew where they were not written
    values = config.to_dict()
    return {
        **values,
        "model_type": kind,
        "id2label": {"0": "a", "1": "b"},
        "label2id": {"a": 0, "b": 1},
        "pad_token_id": 0,
    }


def _shrink(config: Any) -> None:
    names = config.to_dict()
    for name, value in SMALL.items():
        if isinstance(names.get(name), int):
            setattr(config, name, value)
    for name in ("layer_types", "mlp_layer_types", "layers_block_type", "attention_window"):
        if isinstance(names.get(name), list):
            setattr(config, name, names[name][:LAYERS])
    for inner in config.sub_configs:
        if getattr(config, inner, None) is not None:
            _shrink(getattr(config, inner))


def small_network(values: dict[str, Any]) -> torch.nn.Module:
    """A random network of such values."""
    config = CONFIG_MAPPING[values["model_type"]].from_dict(deepcopy(values))
    return new_network(config, MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING)


def kinds() -> list[str]:
    """The types of models in the library's mapping of sequence classifiers."""
    return sorted(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES)
