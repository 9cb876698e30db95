"""Tiny random models that write: one of each way of building them, with the tokenizers of `tiny.py`."""

from pathlib import Path
from typing import Any

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForSeq2SeqLM

from pellucid.models.load import wrap_writing
from pellucid.models.translation.lstm_network import LstmConfig, LstmTranslator
from pellucid.models.writing.writing_model import WritingModel
from tests.shared.tiny import (
    byte_pairs,
    byte_pairs_alone,
    byte_pairs_with_padding,
    sentence_piece_after_start,
    sentence_piece_before_end,
)

BOTH_PARTS = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "max_position_embeddings": 96,
}
GROUPED = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "intermediate_size": 24,
    "max_position_embeddings": 96,
}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "t5": (
        sentence_piece_before_end,
        {"d_model": 16, "d_kv": 8, "d_ff": 24, "num_layers": 2, "num_heads": 2},
    ),
    "bart": (byte_pairs, BOTH_PARTS),
    "marian": (sentence_piece_before_end, BOTH_PARTS | {"scale_embedding": True}),
    "gpt2": (byte_pairs_alone, {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_inner": 24, "n_positions": 96}),
    "llama": (sentence_piece_after_start, GROUPED),
    "qwen2": (byte_pairs_with_padding, GROUPED),
}
TRANSLATORS = ("t5", "bart", "marian")


def tiny_writing(kind: str = "bart") -> WritingModel:
    """A random model that writes, whose weights are large enough that what it reads matters."""
    make_tokenizer, sizes = KINDS[kind]
    tokenizer = make_tokenizer()
    end = tokenizer.sep_token_id if tokenizer.eos_token_id is None else tokenizer.eos_token_id
    pad = end if tokenizer.pad_token_id is None else tokenizer.pad_token_id
    config = AutoConfig.for_model(
        kind,
        vocab_size=len(tokenizer),
        pad_token_id=pad,
        eos_token_id=end,
        bos_token_id=tokenizer.bos_token_id,
        decoder_start_token_id=pad,
        forced_eos_token_id=None,
        **sizes,
    )
    auto = AutoModelForSeq2SeqLM if kind in TRANSLATORS else AutoModelForCausalLM
    with torch.random.fork_rng():
        torch.manual_seed(5)
        network = auto.from_config(config).eval()
        with torch.no_grad():
            for name, parameter in network.named_parameters():
                if "norm" not in name.lower() and kind != "t5":
                    parameter.mul_(4.0)
    return wrap_writing(network, tokenizer, f"tiny {kind}")


def tiny_lstm() -> WritingModel:
    """A random translator of LSTMs, as `train_translator(network="lstm")` begins with."""
    tokenizer = sentence_piece_before_end()
    ids = {"pad_token_id": tokenizer.pad_token_id, "decoder_start_token_id": tokenizer.pad_token_id}
    config = LstmConfig(vocab_size=len(tokenizer), hidden_size=16, eos_token_id=tokenizer.eos_token_id, **ids)
    with torch.random.fork_rng():
        torch.manual_seed(5)
        network = LstmTranslator(config).eval()
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.mul_(2.0)
    return wrap_writing(network, tokenizer, "tiny lstm")


def save_tiny_writing(folder: Path, kind: str = "bart") -> Path:
    """A folder with a tiny model that writes, as `save_pretrained` leaves it."""
    model = tiny_writing(kind)
    model.network.save_pretrained(folder)
    model.tokenizer.save_pretrained(folder)
    return folder
