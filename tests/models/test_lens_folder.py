"""A lens on disk: read back as it was; whatever was changed in its files ends in one sentence."""

import json
import re
import shutil

import pytest
import torch
from safetensors.torch import load, load_file, save_file

from pellucid.base.errors import BadFile, BadSetting, ModelCannot
from pellucid.models.language_heads.lens import check_lens_fits
from pellucid.models.language_heads.lens_folder import RECORD, WEIGHTS, load_lens
from tests.shared.tiny import tiny_classifier, tiny_composed
from tests.shared.tiny_lens import trained_lens


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A folder with a lens, and the lens as its training returned it; its first layer is translated."""
    folder = tmp_path_factory.mktemp("lens")
    lens = trained_lens(folder, head_steps=30, translator_steps=30)
    return folder, lens


@pytest.fixture
def copy(saved, tmp_path):
    shutil.copytree(saved[0], tmp_path / "lens")
    return tmp_path / "lens"


def test_it_is_read_back_as_it_was(saved):
    folder, lens = saved
    again = load_lens(folder)
    states, ids = torch.randn(5, 32), torch.tensor([1, 7])
    for layer in range(4):
        one, other = (each.log_probabilities(states, layer, ids) for each in (lens, again))
        assert torch.equal(one, other) and one.shape == (5, 2) and bool((one < 0).all())
        assert torch.equal(lens.most_likely(states, layer), again.most_likely(states, layer))
    assert again.record == lens.record and again.digest == lens.digest
    assert (again.width, again.n_tokens, again.trained_on) == (32, lens.n_tokens, "the classifier")


def test_the_table_of_word_vectors_is_stored_once(saved):
    tensors = load_file(saved[0] / WEIGHTS)
    table = tiny_classifier().embedding.weight
    assert torch.equal(tensors["word_vectors"], table)
    assert [name for name, tensor in tensors.items() if tensor.shape == table.shape] == ["word_vectors"]


def test_a_layer_and_a_width_that_are_not_there_are_refused(saved):
    _, lens = saved
    with pytest.raises(BadSetting, match="layer=4 is out of range; give a number from 0 to 3"):
        lens.most_likely(torch.randn(1, 32), 4)
    with pytest.raises(ModelCannot, match=r"reads states of 32 numbers from layer 1, and these have 16; give a lens"):
        lens.log_probabilities(torch.randn(1, 16), 1, [0])


def test_it_fits_its_model_and_what_is_tuned_from_it_and_no_other(saved):
    _, lens = saved
    check_lens_fits(lens, tiny_classifier())
    check_lens_fits(lens, tiny_composed("first_token"))  # another head on the same kind of encoder
    with pytest.raises(ModelCannot, match=r"the pieces of another tokenizer .* make one of its own: pellucid lens"):
        check_lens_fits(lens, tiny_classifier("roberta"))
    with pytest.raises(ModelCannot, match=r"reads 3 layers of 32 numbers, and .* has 2 layers of 32"):
        check_lens_fits(lens, tiny_classifier(num_hidden_layers=2))


def test_it_is_printed_as_a_table(saved):
    _, lens = saved
    assert "named first" in str(lens) and "by the bare head" in str(lens) and "3 layers" in repr(lens)
    assert "on the classifier (tiny bert)" in lens.description


NAN, HUGE = float("nan"), 10**30
SPOILT = {
    "form": "pellucid-lens-9",
    "trained_on": "the moon",
    "model": 7,
    "weights": "0" * 32,
    "widths": [32, 32, 32],
    "n_tokens": HUGE,
    "vector_width": -1,
    "n_texts": NAN,
    "recipe": {"seed": NAN},
    "table": {"layers": [], "n_rows": 1, "n_pieces": 1},
    "vocabulary": None,
    "fingerprint": [],
}


@pytest.mark.parametrize("name", SPOILT)
def test_a_spoilt_value_ends_in_one_sentence(copy, name):
    record = json.loads((copy / RECORD).read_text())
    (copy / RECORD).write_text(json.dumps(record | {name: SPOILT[name]}))
    refused(copy)


@pytest.mark.parametrize("name", ("form", *list(SPOILT)[1:]))
def test_a_missing_value_ends_in_one_sentence(copy, name):
    record = json.loads((copy / RECORD).read_text())
    (copy / RECORD).write_text(json.dumps({key: value for key, value in record.items() if key != name}))
    refused(copy)


WIDTHS = (
    [],
    32,
    [0] * 4,
    [32, 32, 32, 16],
    [True] * 4,
    [32.0] * 4,
    [1 << 40] * 4,
    [32] * 20_000,
    [NAN] * 4,
    None,
)


@pytest.mark.parametrize("widths", WIDTHS, ids=lambda widths: str(widths)[:20])
def test_widths_that_are_not_the_weights_end_in_one_sentence(copy, widths):
    record = json.loads((copy / RECORD).read_text())
    (copy / RECORD).write_text(json.dumps(record | {"widths": widths}))
    refused(copy)


LAYER = (
    {"kl": NAN},
    {"kl": -5},
    {"kl": HUGE},
    {"recovery": None},
    {"recovery": {"mean": 2, "low": 0, "high": 1}},
    {"recovery": {"mean": 0.5, "low": 0}},
    {"bare_recovery": {"mean": NAN, "low": 0, "high": 1}},
    {"bare_kl": "0"},
    {"layer": 3},
    {"translated": 1},
)


@pytest.mark.parametrize("change", LAYER, ids=str)
def test_numbers_of_the_table_that_cannot_be_end_in_one_sentence(copy, change):
    record = json.loads((copy / RECORD).read_text())
    record["table"]["layers"][0] |= change
    (copy / RECORD).write_text(json.dumps(record))
    refused(copy)


@pytest.mark.parametrize("content", (b"", b"[]", b"{", b"\xff\xfe", b"[" * 100_000, b'{"form": "pellucid-lens-1"}'))
def test_what_is_no_record_ends_in_one_sentence(copy, content):
    (copy / RECORD).write_bytes(content)
    refused(copy)


def test_spoilt_weights_end_in_one_sentence(copy):
    path = copy / WEIGHTS
    whole = path.read_bytes()
    tensors = load(whole)  # not mapped from the file, which is written over
    path.write_bytes(whole[:1000])
    refused(copy)
    path.write_bytes(b"\xff" * 1000)
    refused(copy)
    save_file({**tensors, "head.bias": tensors["head.bias"] + 1}, path)
    assert "was changed" in refused(copy)
    save_file({**tensors, "head.bias": tensors["head.bias"] * torch.nan}, path)
    assert "not a finite number" in refused(copy)
    save_file({**tensors, "head.bias": tensors["head.bias"].double()}, path)
    assert "head.bias is F64" in refused(copy)
    save_file({**tensors, "more": torch.zeros(1)}, path)
    assert "one too many: more" in refused(copy)
    path.unlink()
    refused(copy)


def refused(folder):
    """The sentence with which a folder is refused."""
    with pytest.raises(BadFile) as error:
        load_lens(folder)
    sentence = str(error.value)
    assert "\n" not in sentence and len(sentence) < 700 and re.search(r"lens", sentence)
    return sentence
