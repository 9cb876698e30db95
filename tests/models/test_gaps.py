"""Gaps in positions: what "absent" means to a model is found by trying, in every number type alike."""

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModelForSequenceClassification

from pellucid.models.classifiers.hugging_face import wrap
from pellucid.text.example import as_examples
from tests.shared.asking import ask
from tests.shared.tiny import LABELS, byte_pairs_alone, tiny_classifier

SIZES = {"hidden_size": 32, "n_layer": 2, "n_head": 4, "num_hidden_layers": 2, "num_attention_heads": 4}
TEXT = "a gripping and lovely film it was"


def decoder(kind, **settings):
    """A random decoder of a kind whose distances are counted, not looked up."""
    tokenizer = byte_pairs_alone()
    config = AutoConfig.for_model(
        kind, vocab_size=len(tokenizer), num_labels=len(LABELS), bos_token_id=0, eos_token_id=0, **settings
    )
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network = AutoModelForSequenceClassification.from_config(config).eval()
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.mul_(4.0 if parameter.ndim > 1 else 1.0)
    return wrap(network, tokenizer, name=f"tiny {kind}")


def falls(model, operator):
    return ask(model, [TEXT], ("occlusion", {"operator": operator}))[0].scores


@pytest.mark.parametrize(
    ("kind", "settings", "same"),
    (
        ("bloom", SIZES, True),
        ("falcon", {**SIZES, "alibi": True}, True),
        ("falcon", {**SIZES, "alibi": False}, False),
        ("mpt", {"d_model": 32, "n_layers": 2, "n_heads": 4, "max_seq_len": 64}, False),
    ),
)
def test_absent_is_delete_where_places_are_counted_among_what_is_attended(kind, settings, same):
    """As the pages on operators say."""
    model = decoder(kind, **settings)
    absent, delete = falls(model, "absent"), falls(model, "delete")
    assert np.abs(absent).max() > 0.01
    assert np.allclose(absent, delete, atol=1e-5) == same


@pytest.mark.parametrize("dtype", (torch.bfloat16, torch.float16), ids=str)
@pytest.mark.parametrize(("family", "free"), (("mpnet", False), ("deberta_v2", False), ("bert", True)))
def test_every_number_type_decides_as_float32(family, free, dtype):
    """The rounding of sixteen bits is larger than what a shifted position does to a small model."""
    exact, short = tiny_classifier(family), tiny_classifier(family)
    short.network.to(dtype)
    for length in (8, 12, 24, 48, 100):
        assert exact.skips_gaps(length) == short.skips_gaps(length) == free


def test_a_trial_leaves_the_network_in_its_number_type():
    model = tiny_classifier("mpnet")
    model.network.half()
    types = {name: tensor.dtype for name, tensor in model.network.state_dict().items()}
    model.skips_gaps(16)
    assert {name: tensor.dtype for name, tensor in model.network.state_dict().items()} == types
    assert model.trace(model.encode(as_examples([TEXT])).rows).logits.dtype == torch.float16
