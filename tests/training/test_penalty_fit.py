"""A penalty that has nothing to act on is told before anything is read or trained."""

import pytest
import torch

import pellucid
from pellucid.api import recipe_of
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import penalties, poolers
from pellucid.models.classifiers.output import Output
from pellucid.training.objective import Objective
from pellucid.training.penalty_fit import check_fit
from tests.training.made import trained

FITS = {"span": {"concentration", "divergence", "entropy"}, "rationale": {"coherence", "sparsity"}}


@pytest.mark.parametrize("pooler", poolers.names())
@pytest.mark.parametrize("name", penalties.names())
def test_every_penalty_fits_where_its_reading_is(name, pooler):
    if name in FITS.get(pooler, ()):
        check_fit({name: 1.0}, pooler, {})
    else:
        with pytest.raises(
            BadSetting, match=f"The penalty {name} reads .*, which pooler={pooler!r} does not"
        ):
            check_fit({name: 1.0}, pooler, {})


@pytest.mark.parametrize(
    ("name", "pooler", "said"),
    [
        ("concentration", "first_token", r"give pooler='span', or no penalty: none fits it\."),
        (
            "sparsity",
            "span",
            r"'rationale', or a penalty that fits it \(concentration, divergence, entropy\)\.",
        ),
    ],
)
def test_the_error_names_what_fits(name, pooler, said, tmp_path):
    """The data are not there: they were not looked for."""
    with pytest.raises(BadSetting, match=said):
        pellucid.train(tmp_path / "none.csv", pooler=pooler, penalties={name: 1.0}, out=tmp_path / "model")


def test_penalties_on_equal_weights_are_refused(tmp_path):
    for name in FITS["span"]:
        with pytest.raises(BadSetting, match=f"{name} would change nothing: weights='uniform'"):
            check_fit({name: 1.0}, "span", {"weights": "uniform"})
    with pytest.raises(BadSetting, match="would change nothing"):
        trained(tmp_path, tmp_path / "model", pooler_settings={"weights": "uniform"})
    assert not (tmp_path / "model").exists()


def test_a_penalty_of_weight_0_fits_everywhere():
    """It is how a sweep over weights, or a call that takes the default away, says "none"."""
    check_fit({"concentration": 0.0}, "span", {"weights": "uniform"})
    check_fit({"concentration": 0.0}, "first_token", {})
    logits, gold = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    plain, zero = (Objective("single_label", held) for held in ({}, {"concentration": 0.0}))
    assert zero.loss(Output(logits=logits), gold) == plain.loss(Output(logits=logits), gold)


def test_equal_weights_have_no_penalty_by_default():
    assert recipe_of("span", 0, None, "minilm", {"weights": "uniform"}).penalties == {}
    assert recipe_of("span", 0, None, "minilm", {"weights": "learned"}).penalties
