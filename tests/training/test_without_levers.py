"""A span model without any lever for its evidence is the one that was trained before there were levers, byte by
byte.
"""

import json
from hashlib import blake2b

import pytest
import torch
import transformers

from tests.shared.moments import files_of
from tests.shared.tiny_training import save_encoder, trained

# Recorded before the levers came; other versions and processors round otherwise.
WHERE = ("2.13", "5.23", "AVX2")
HERE = (
    ".".join(torch.__version__.split(".")[:2]),
    ".".join(transformers.__version__.split(".")[:2]),
    torch.backends.cpu.get_cpu_capability(),
)
# Of the configuration two: it holds measured numbers, whose last digits differ between two processors with the same
# instructions.
FORMS = {
    "default": ({}, "f85548d3b1bdc6a4", ("f9d77ecd47d8064e", "358271dd764d0e8e")),
    "limited": (
        {"unit": "piece", "spans": "with_content", "within": "sentence", "max_width": 3},
        "1502caf01801c38b",
        ("d4d9e3039f857e73", "4921ba0d5343fcd3"),
    ),
}
FINGERPRINTS = {
    "default": "0c6517deffbcd632ebf5f78eb67e2515",
    "limited": "15a26d75aea444952828fb3ed87f046a",
}


@pytest.mark.whole
@pytest.mark.parametrize("form", FORMS)
def test_a_model_without_levers_is_as_before(tmp_path, monkeypatch, form):
    """The encoder is drawn by a seed and stands at a path that is always the same; the run's name is the same
    everywhere.
    """
    settings, weights, configs = FORMS[form]
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
        assert digest(files["config.json"]) in configs


def digest(content):
    return blake2b(content, digest_size=8).hexdigest()
