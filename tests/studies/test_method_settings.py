"""The settings for studies are settings that the methods take."""

import pytest

from pellucid.studies.shared.method_settings import STUDY_SETTINGS, with_study_settings
from tests.asking import ask


@pytest.mark.parametrize("method", STUDY_SETTINGS)
def test_every_setting_works(method, bert):
    explanation = ask(
        bert,
        ["A gripping, lovely film that nobody should ever miss again."],
        (method, STUDY_SETTINGS[method]),
    )[0]
    assert explanation.scores.any()


def test_settings_of_the_caller_stay():
    assert with_study_settings(["lime", ("lime", {"n_samples": 5}), "gradient"]) == [
        ("lime", STUDY_SETTINGS["lime"]),
        ("lime", {"n_samples": 5}),
        "gradient",
    ]
