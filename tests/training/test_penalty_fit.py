"""A penalty that has nothing to act on is refused before anything is read or trained."""

import pytest

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import penalties
from pellucid.training.objective import check_fit
from pellucid.training.recipes import recipe_of
from tests.shared.tiny_training import trained


@pytest.mark.parametrize(
    ("name", "pooler", "message"),
    [
        (
            "concentration",
            "first_token",
            r"give pooler='additive' or pooler='dot' or pooler='span', or a penalty that fits it \(.*tying.*\)\.",
        ),
        (
            "sparsity",
            "span",
            r"'rationale', or a penalty that fits it \(.*concentration.*\)\.",
        ),
    ],
)
def test_the_error_names_what_fits(name, pooler, message, tmp_path):
    """The data are not there: they were not looked for."""
    with pytest.raises(BadSetting, match=message):
        pellucid.train(tmp_path / "none.csv", pooler=pooler, penalties={name: 1.0}, out=tmp_path / "model")


def test_penalties_on_equal_weights_are_refused(tmp_path):
    for name in (name for name in penalties.names() if penalties.get(name).facts["reads"] == "weights"):
        for pooler in ("span", "additive", "dot"):
            with pytest.raises(BadSetting, match=f"{name} would change nothing: weights='uniform'"):
                check_fit({name: 1.0}, pooler, {"weights": "uniform"})
    with pytest.raises(BadSetting, match="would change nothing"):
        trained(tmp_path, tmp_path / "model", pooler_settings={"weights": "uniform"})
    assert not (tmp_path / "model").exists()


def test_equal_weights_have_no_penalty_by_default():
    assert recipe_of("span", 0, None, "minilm", {"weights": "uniform"}).penalties == {}
    assert recipe_of("span", 0, None, "minilm", {"weights": "learned"}).penalties
