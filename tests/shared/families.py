"""Every family of the library's own mapping of sequence classifiers, small and random: made in memory, no network.

A configuration of a family is its default one with small numbers wherever it counts something (`SMALL`); what else a
family needs is in `OWN`.
"""

from collections.abc import Callable, Mapping
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForSequenceClassification, PreTrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES

from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import wrap
from tests.shared import tiny

MAPPING = tuple(MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES)
LABELS = ("negative", "neutral", "positive")
WIDTH, LAYERS, HEADS, INNER, HEAD, PLACES = 16, 2, 2, 24, 8, 64
SMALL: dict[str, Any] = {
    **dict.fromkeys(("hidden_size", "d_model", "n_embd", "dim", "emb_dim", "embedding_size", "d_latents"), WIDTH),
    **dict.fromkeys(("input_embedding_size", "output_embedding_size", "true_hidden_size", "entity_emb_size"), WIDTH),
    **dict.fromkeys(("intra_bottleneck_size", "pronunciation_embed_dim", "shape_embed_dim", "qkv_channels"), WIDTH),
    **dict.fromkeys(("prediction_head_size", "linear_key_head_dim", "linear_value_head_dim"), WIDTH),
    **dict.fromkeys(("num_hidden_layers", "num_layers", "n_layer", "n_layers", "encoder_layers"), LAYERS),
    **dict.fromkeys(("decoder_layers", "num_decoder_layers", "depth", "num_self_attends_per_block"), LAYERS),
    **dict.fromkeys(("num_attention_heads", "num_key_value_heads", "num_heads", "n_head", "n_heads"), HEADS),
    **dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads", "num_self_attention_heads"), HEADS),
    **dict.fromkeys(("num_cross_attention_heads", "linear_num_key_heads", "linear_num_value_heads"), HEADS),
    **dict.fromkeys(("n_mamba_heads", "index_n_heads", "num_query_groups"), HEADS),
    **dict.fromkeys(("intermediate_size", "hidden_dim", "n_inner", "dff", "d_ff", "d_inner", "ffn_dim"), INNER),
    **dict.fromkeys(("encoder_ffn_dim", "decoder_ffn_dim", "moe_intermediate_size", "feed_forward_size"), INNER),
    **dict.fromkeys(("shared_expert_intermediate_size",), INNER),
    **dict.fromkeys(("head_dim", "d_kv", "d_head", "kv_channels", "attention_head_size", "v_head_dim"), HEAD),
    **dict.fromkeys(("qk_nope_head_dim", "qk_rope_head_dim", "q_lora_rank", "kv_lora_rank"), HEAD),
    **dict.fromkeys(("index_head_dim", "gated_norm_rank", "adapter_rank", "query_pre_attn_scalar"), HEAD),
    **dict.fromkeys(("coordinate_size", "xpath_unit_hidden_size", "type_vocab_size"), 2),
    "shape_size": 4,
    **dict.fromkeys(("n_routed_experts", "num_experts", "num_local_experts", "num_latents"), 4),
    **dict.fromkeys(("num_experts_per_tok", "topk_group", "n_group", "top_k"), 2),
    **dict.fromkeys(("entity_vocab_size", "pronunciation_vocab_size", "shape_vocab_size", "num_hash_buckets"), 16),
    **dict.fromkeys(("max_2d_position_embeddings",), 32),
    **dict.fromkeys(("rel_pos_bins", "rel_2d_pos_bins"), 8),
    "mamba_d_state": 4,
    "mamba_dt_rank": 4,
    "local_transformer_stride": 16,
    "out_hidden_size": WIDTH,
    "max_position_embeddings": PLACES + 2,  # two more for families that count from their padding id + 1
    "n_positions": PLACES,
    "image_size": 16,
    "patch_size": 8,
    "sliding_window": 16,
    "local_attention": 16,
    "first_k_dense_replace": 1,
}
_MIXED = {"layer_types": ["linear_attention", "full_attention"]}
_STATES = {"layers_block_type": ["linear_attention", "hybrid", "hybrid"], "num_hidden_layers": 3}
_ROPE = {"rope_type": "default", "rope_theta": 10000.0}
_ROTARY = dict.fromkeys(("sliding_attention", "full_attention"), _ROPE)
OWN: dict[str, dict[str, Any]] = {  # what a family needs besides small numbers
    "bigbird_pegasus": {"block_size": 4},
    "big_bird": {"block_size": 4},
    "cohere_compass_text": {"rope_parameters": _ROTARY},
    "esm": {"position_embedding_type": "absolute"},
    "funnel": {"block_sizes": [1, 1], "block_repeats": [1, 1]},
    "gpt_neo": {"attention_types": [[["global", "local"], 1]], "window_size": 16},
    "gptj": {"rotary_dim": 4},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False},
    "lilt": {"hidden_size": 24},
    "longformer": {"attention_window": [8, 8]},
    "layoutlmv3": {"max_rel_pos": 16},
    "mistral4": {"head_dim": 16},
    "phimoe": {"rope_parameters": _ROPE},
    "qwen3_5": {"text_config": _MIXED},
    "qwen3_5_text": _MIXED,
    "qwen3_next": _MIXED,
    "reformer": {
        "attn_layers": ["local", "lsh"],
        "axial_pos_shape": [8, 8],
        "axial_pos_embds_dim": [8, 8],
        "max_position_embeddings": 64,
        "local_attn_chunk_length": 4,
        "lsh_attn_chunk_length": 4,
        "num_buckets": 4,
    },
    "xmod": {"languages": ["en_XX"], "default_language": "en_XX"},
    "zamba": {"use_mamba_kernels": False, **_STATES},
    "zamba2": {"use_mamba_kernels": False, "use_mem_eff_path": False, **_STATES},
}


def _named(names: str) -> tuple[str, ...]:
    return tuple(names.split())


TOKENIZERS: dict[str, Callable[[], Any]] = {
    **dict.fromkeys(MAPPING, tiny.word_piece),
    **dict.fromkeys(
        _named(
            "bart data2vec-text deberta ibert layoutlmv3 lilt longformer luke markuplm mvp plbart roberta "
            "roberta-prelayernorm"
        ),
        tiny.byte_pairs,
    ),
    **dict.fromkeys(_named("camembert mbart xlm-roberta xlm-roberta-xl xmod jina_embeddings_v3"), tiny.sentence_piece),
    **dict.fromkeys(_named("albert deberta-v2 rembert reformer fnet big_bird"), tiny.sentence_piece_in_brackets),
    **dict.fromkeys(_named("mpnet tapas"), tiny.word_piece_in_brackets),
    "modernbert": tiny.byte_pairs_in_brackets,
    "modernbert-decoder": tiny.byte_pairs_in_brackets,
    "modernvbert": tiny.byte_pairs_in_brackets,
    **dict.fromkeys(_named("bigbird_pegasus mt5 t5 t5gemma t5gemma2 umt5"), tiny.sentence_piece_before_end),
    "xlnet": tiny.sentence_piece_on_the_left,
    **dict.fromkeys(
        _named(
            "bloom codegen ctrl falcon gpt-sw3 gpt2 gpt_bigcode gpt_neo gpt_neox gpt_oss gptj mpt openai-gpt opt phi "
            "stablelm starcoder2"
        ),
        tiny.byte_pairs_alone,
    ),
    **dict.fromkeys(
        _named("qwen2 qwen2_moe qwen3 qwen3_5 qwen3_5_text qwen3_moe qwen3_next"),
        tiny.byte_pairs_with_padding,
    ),
    **dict.fromkeys(
        _named(
            "arcee axk1 axk2 biogpt deepseek_v2 deepseek_v3 diffllama doge exaone4 gemma gemma2 gemma3 gemma3_text glm "
            "glm4 helium hunyuan_v1_dense hunyuan_v1_moe jamba jetmoe llama minicpm3 minimax ministral ministral3 "
            "mistral mistral4 mixtral nemotron olmo olmo2 olmo3 persimmon phi3 phimoe seed_oss smollm3 zamba zamba2"
        ),
        tiny.sentence_piece_after_start,
    ),
}


def _small(kind: type[PreTrainedConfig], own: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a configuration: small numbers where it counts something, in its parts too."""
    fields = {*kind().to_dict(), *kind.attribute_map} - {"pad_token_id"}
    sizes = {name: value for name, value in SMALL.items() if name in fields} | dict(own)
    if "vocab_size" in fields:
        sizes["vocab_size"] = 0  # the tokenizer's
    for name in kind.sub_configs or {}:
        default = getattr(kind(), name)
        if isinstance(default, PreTrainedConfig) and name != "attn_config":
            sizes[name] = {"model_type": default.model_type} | _small(type(default), own.get(name, {}))
    return sizes


def _name_tokens(sizes: dict[str, Any], ids: dict[str, int | None], top: bool = True) -> None:
    """The tokenizer's ids in a configuration and in those of its parts that read tokens."""
    if top or "vocab_size" in sizes:
        sizes.update(ids)
    for part in sizes.values():
        if isinstance(part, dict):
            _name_tokens(part, ids, top=False)


def family_config(family: str, tokenizer: Any, **settings: Any) -> PreTrainedConfig:
    """A small configuration of the family, with the ids of a tokenizer."""
    sizes = _small(CONFIG_MAPPING[family], OWN.get(family, {}))
    ids = {
        "vocab_size": len(tokenizer),
        "pad_token_id": tokenizer.pad_token_id,
        "bos_token_id": tokenizer.cls_token_id if tokenizer.bos_token_id is None else tokenizer.bos_token_id,
        "eos_token_id": tokenizer.sep_token_id if tokenizer.eos_token_id is None else tokenizer.eos_token_id,
    }
    if ids["bos_token_id"] is None:
        ids["bos_token_id"] = ids["eos_token_id"]
    _name_tokens(sizes, ids)
    sizes.setdefault("decoder_start_token_id", ids["eos_token_id"])
    return AutoConfig.for_model(family, **{**sizes, **settings})


def random_network(auto: Any, config: PreTrainedConfig) -> torch.nn.Module:
    """A random network of one of the library's kinds, whose weights are large enough that inputs matter."""
    with torch.random.fork_rng():
        torch.manual_seed(7)
        network = auto.from_config(config).eval()
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "norm" not in name.lower():
                    parameter.mul_(4.0)
    return network


def family_network(family: str, **settings: Any) -> torch.nn.Module:
    """A random classifier of the family."""
    names = {"id2label": dict(enumerate(LABELS)), "label2id": {name: n for n, name in enumerate(LABELS)}}
    config = family_config(family, TOKENIZERS[family](), **names, **settings)
    return random_network(AutoModelForSequenceClassification, config)


def family_classifier(family: str, **settings: Any) -> Classifier:
    """A classifier of the family, wrapped as `pellucid.load` would."""
    return wrap(family_network(family, **settings), TOKENIZERS[family](), name=f"small {family}")
