"""A span model without any lever for its evidence is the one that was trained before there were levers, byte by byte."""

import json
from hashlib import blake2b

import pytest
import torch
import transformers

from tests.moments import files_of
from tests.training.tiny_training import save_encoder, trained

# Recorded before the levers came; other versions and processors round otherwise.
WHERE = ("2.13", "5.23", "AVX2")
HERE = (
    ".".join(torch.__version__.split(".")[:2]),
    ".".join(transformers.__version__.split(".")[:2]),
    torch.backends.cpu.get_cpu_capability(),
)
FORMS = {
    "default": ({}, "f85548d3b1bdc6a4", "d69d0cdf0c36c13b"),
    "limited": (
        {"unit": "piece", "spans": "with_content", "within": "sentence", "max_width": 3},
        "1502caf01801c38b",
        "f0ed632a66e4a08b",
    ),
}
FINGERPRINTS = {
    "default": "0c6517deffbcd632ebf5f78eb67e2515",
    "limited": "15a26d75aea444952828fb3ed87f046a",
}


@pytest.mark.whole
@pytest.mark.parametrize("form", FORMS)
def test_a_model_without_levers_is_as_before(tmp_path, monkeypatch, form):
    """The encoder is drawn by a seed and stands at a path that is always the same; the run's name is the same everywhere."""
    settings, weights, config = FORMS[form]
    monkeypatch.chdir(tmp_path)
    threads = torch.get_num_threads()
    with torch.random.fork_rng():
        torch.manual_seed(0)
        save_encoder(tmp_path / "encoder")
    try:
        torch.set_num_threads(1)
        trained("encoder", tmp_path / "model", pooler_settings=settings)
    finally:
        torch.set_num_threads(threads)
    files = files_of(tmp_path / "model")
    assert json.loads(files["config.json"])["trained"]["fingerprint"] == FINGERPRINTS[form]
    if HERE == WHERE:
        assert digest(files["model.safetensors"]) == weights
        assert digest(in_six_digits(files["config.json"])) == config


def digest(content):
    return blake2b(content, digest_size=8).hexdigest()


def in_six_digits(config):
    """The configuration with its measured numbers in six digits: of processors with the same instructions some differ in the last ones."""
    rounded = json.loads(config, parse_float=lambda digits: f"{float(digits):.6g}")
    return json.dumps(rounded).encode()
