"""A model that was trained on pairs says so when it is asked about single texts, and the other way round."""

import warnings

import pytest

import pellucid
from pellucid.base.errors import InputReading
from pellucid.text.example import Example
from tests.shared.tiny_training import parts, save_encoder, trained

PAIR, SINGLE = ("A woman reads.", "Nobody reads."), "A woman reads."


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return save_encoder(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module", params=(1, 2), ids=("of single texts", "of pairs"))
def model(encoder, tmp_path_factory, request):
    """A model that was trained on texts of so many segments, loaded from its folder."""
    folder = tmp_path_factory.mktemp("model")
    data = {
        split: [Example(one.segments[:1] + ("It was new.",) * (request.param - 1), one.label) for one in examples]
        for split, examples in parts().items()
    }
    trained(encoder, folder, data=data, epochs=1)
    return pellucid.load(folder)


def test_the_other_kind_of_text_gets_a_notice_and_the_same_kind_none(model):
    ours, other = (SINGLE, PAIR) if model.trained_segments == 1 else (PAIR, SINGLE)
    words = "single texts, and 1 of 2 here are pairs" if other is PAIR else "pairs of texts, and 1 of 2 here are single"
    with pytest.warns(InputReading, match=words):
        pellucid.explain(model, [ours, other], "gradient", progress=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        pellucid.explain(model, [ours], "gradient", progress=False)


def test_of_a_model_that_was_trained_on_both_nothing_is_known(encoder, tmp_path):
    data = parts()
    data["train"] = [*data["train"][:-1], Example(PAIR, data["train"][-1].label)]
    assert trained(encoder, tmp_path / "model", data=data, epochs=1).trained_segments is None
