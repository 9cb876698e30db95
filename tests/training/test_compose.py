"""Composing draws the new parts from the seed and touches nothing else."""

import pytest
import torch

import pellucid
from pellucid.base.errors import BadFile
from pellucid.models.classifiers.hugging_face import load_encoder
from pellucid.models.composed.composed import compose
from pellucid.models.composed.networks import Plan
from pellucid.text.example import Example, seen_in_training
from tests.shared.tiny_training import LABELS, parts, trained


def weights(encoder, seed):
    network, _ = compose(Plan(str(encoder), "span", {}, LABELS), seed)
    return network.state_dict()


def test_the_seed_decides_the_new_parts_alone(encoder):
    one, same, other = weights(encoder, 0), weights(encoder, 0), weights(encoder, 1)
    assert all(torch.equal(one[name], same[name]) for name in one)
    differing = {name.split(".")[0] for name in one if not torch.equal(one[name], other[name])}
    assert differing == {"pooler", "head"}


def test_the_random_state_is_as_before(encoder):
    before = torch.get_rng_state()
    weights(encoder, 0)
    assert torch.equal(torch.get_rng_state(), before)


def test_the_encoder_is_as_saved_in_float32_without_a_pooler_of_its_own(encoder):
    network, tokenizer = load_encoder(encoder)
    assert network.pooler is None
    assert {parameter.dtype for parameter in network.parameters()} == {torch.float32}
    assert len(tokenizer) == network.config.vocab_size


@pytest.mark.parametrize(("name", "hint"), [("/no/such/encoder", ""), ("transfomer", "Did you mean 'transformer'")])
def test_an_encoder_that_is_not_there_raises(name, hint):
    with pytest.raises(BadFile, match=f"Cannot load the encoder .*{hint}"):
        load_encoder(name)


@pytest.mark.whole
def test_a_trained_model_knows_its_texts_and_those_of_its_encoder(encoder, tmp_path):
    """By digests, whatever file they come from; the folder keeps no text."""
    data = parts()
    model = trained(encoder, tmp_path / "first", epochs=1, data=data)
    every = [*data["train"], *data["dev"]]
    assert all(seen_in_training(model, every))
    assert all(seen_in_training(pellucid.load(tmp_path / "first"), every))
    new = Example(("a text of its own",), "neutral")
    assert (
        seen_in_training(model, [new]) == [False]
        and every[0].text not in (tmp_path / "first" / "trained_texts.txt").read_text()
    )
    later = {"train": [new] * 8, "dev": [new]}
    again = trained(tmp_path / "first", tmp_path / "second", epochs=1, data=later)
    assert all(seen_in_training(again, [*every, new]))
