"""A training step of an encoder with random weights: forward, backward, AdamW. The layer's share refers to it."""

import torch
from transformers import BertConfig, BertModel

from benchmarks.span.measuring import milliseconds

ENCODERS = {"MiniLM, 6 x 384": (6, 384, 1536), "12 x 768": (12, 768, 3072)}
BATCH = 8


def encoder_step(name: str, units: int, runs: int) -> float:
    """Milliseconds."""
    layers, width, inner = ENCODERS[name]
    torch.manual_seed(0)
    config = BertConfig(num_hidden_layers=layers, hidden_size=width, intermediate_size=inner, num_attention_heads=12)
    encoder = BertModel(config, add_pooling_layer=False)
    optimizer = torch.optim.AdamW(encoder.parameters(), fused=True)
    ids = torch.randint(1000, 20_000, (BATCH, units))

    def step() -> None:
        optimizer.zero_grad()
        encoder(input_ids=ids, attention_mask=torch.ones_like(ids)).last_hidden_state.square().mean().backward()
        optimizer.step()

    if units <= 32:
        step()
    return milliseconds(step, runs, warm=False)
