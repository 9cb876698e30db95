"""Tensors on disk: the bytes that the library writes, under permissions that the umask gives, without files of its
own.
"""

import os
import stat

import pytest
import safetensors.torch
import torch

from pellucid.base.errors import BadFile
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from pellucid.models.folders.weight_files import save_tensors
from tests.shared.tiny import LABELS, tiny_composed

KINDS = (
    torch.float64,
    torch.float32,
    torch.float16,
    torch.bfloat16,
    torch.int64,
    torch.int32,
    torch.int16,
    torch.int8,
    torch.uint8,
    torch.bool,
)


def of_every_kind():
    draw = torch.Generator().manual_seed(0)
    tensors = {
        f"{number % 3}.é {kind}": torch.randint(0, 2, (3, number + 1), generator=draw).to(kind)
        for number, kind in enumerate(KINDS)
    }
    odd = {"empty": torch.zeros(0, 4), "one": torch.tensor(2.5), "turned": torch.randn(5, 3).T}
    return tensors | odd


@pytest.mark.parametrize("metadata", (None, {"progress": '{"epoch": "é"}'}))
def test_the_bytes_are_those_of_the_library(tmp_path, metadata):
    tensors = of_every_kind()
    save_tensors(tensors, tmp_path / "x.safetensors", metadata)
    plain = {name: tensor.contiguous() for name, tensor in tensors.items()}
    assert (tmp_path / "x.safetensors").read_bytes() == safetensors.torch.save(plain, metadata)
    back = safetensors.torch.load_file(tmp_path / "x.safetensors")
    assert back.keys() == tensors.keys()
    assert all(torch.equal(back[name], tensor) for name, tensor in tensors.items())


def test_numbers_that_the_format_does_not_know_are_refused(tmp_path):
    with pytest.raises(BadFile, match=r"type torch\.complex64"):
        save_tensors({"x": torch.zeros(2, dtype=torch.complex64)}, tmp_path / "x.safetensors")
    assert not list(tmp_path.iterdir())


def test_every_file_of_a_model_may_be_read_by_whom_the_umask_lets(tmp_path):
    model = tiny_composed()
    before = os.umask(0o022)
    try:
        save_composed(model.network, model.tokenizer, Plan("tiny", "span", {}, LABELS), tmp_path)
    finally:
        os.umask(before)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    assert modes == dict.fromkeys(
        ("config.json", "model.safetensors", "tokenizer.json", "tokenizer_config.json"), 0o644
    )
