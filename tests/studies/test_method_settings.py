"""The settings for studies are settings that the methods take."""

import pytest

from pellucid.demo import FEW_PASSES
from studies.shared.method_settings import with_study_settings
from tests.shared.asking import ask


@pytest.mark.parametrize("method", FEW_PASSES)
def test_every_setting_works(method, bert):
    explanation = ask(
        bert,
        ["A gripping, lovely film that nobody should ever miss again."],
        (method, FEW_PASSES[method]),
    )[0]
    assert explanation.scores.any()


def test_settings_of_the_caller_stay():
    assert with_study_settings(["lime", ("lime", {"n_samples": 5}), "gradient"]) == [
        ("lime", FEW_PASSES["lime"]),
        ("lime", {"n_samples": 5}),
        "gradient",
    ]
