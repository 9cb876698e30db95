"""A training of a translator that was killed twenty times goes on and ends with the same bytes."""

import random

import pytest

from pellucid.models.translation.untrained_network import LstmSettings, NetworkSettings
from pellucid.writing.train_translator import train_translator
from pellucid.writing.translator_plan import TranslationRecipe, TranslatorPlan
from tests.shared.moments import Moments, files_of, killed
from tests.writing.conftest import parts

RECIPE = TranslationRecipe(
    epochs=2, batch_pieces=40, checkpoint_every=1, averaged=2, precision="float32", penalties={"entropy": 0.1}
)
NETWORKS = {"transformer": NetworkSettings(1, 8, 1, dropout=0.1), "lstm": LstmSettings(1, 8, 0.1)}


def run(network, folder, fatal=-1):
    """Train, and count the moments at which the power may fail."""
    with Moments(fatal) as moments:
        plan = TranslatorPlan(network=NETWORKS[network], pieces=320)
        train_translator(parts(4), plan, RECIPE, folder, "cpu", progress=moments.progress)
    return moments


@pytest.mark.whole
@pytest.mark.parametrize("network", NETWORKS)
def test_a_killed_training_goes_on_and_ends_with_the_same_bytes(network, tmp_path):
    moments = run(network, tmp_path / "whole")
    finished = files_of(tmp_path / "whole")
    for number, moment in enumerate(random.Random(20).sample(range(moments.count), 10)):
        folder = tmp_path / str(number)
        killed(run, network, folder, moment)
        run(network, folder)
        assert files_of(folder) == finished, f"killed at moment {moment}"
