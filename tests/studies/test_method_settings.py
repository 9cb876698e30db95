"""The settings for studies are settings that the methods take."""

import pytest

from pellucid.studies.shared.method_settings import AFFORDABLE, affordable
from tests.asking import ask


@pytest.mark.parametrize("method", AFFORDABLE)
def test_every_setting_works(method, bert):
    found = ask(
        bert, ["A gripping, lovely film that nobody should ever miss again."], (method, AFFORDABLE[method])
    )[0]
    assert found.scores.any()


def test_what_was_given_stays():
    assert affordable(["lime", ("lime", {"n_samples": 5}), "gradient"]) == [
        ("lime", AFFORDABLE["lime"]),
        ("lime", {"n_samples": 5}),
        "gradient",
    ]
