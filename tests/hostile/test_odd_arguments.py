"""No door answers an odd argument with anything but a result or a clear sentence: one argument at a time is
replaced.
"""

import os
import warnings
from pathlib import Path
from random import Random

import pytest

from pellucid.base.errors import PellucidError
from tests.hostile.assertions import assert_good_message
from tests.hostile.odd_arguments import doors, odd_values

pytestmark = pytest.mark.whole

FEW = 12  # odd values for each argument of each door; `make test-long` takes all of them
COSTLY = (
    "train",
    "lens",
    "plant",
    "spans",
    "error_analysis",
    "layer_analysis",
    "attention_analysis",
    "concepts",
)  # doors of which fewer are enough


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Where relative paths lead to, without a network."""
    folder, before = tmp_path_factory.mktemp("doors"), Path.cwd()
    os.chdir(folder)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        yield folder
    os.chdir(before)


@pytest.fixture(scope="module")
def every_door(folder):
    return doors(folder)


NAMES = tuple(
    "explain lime explain_all compare diff spans error_analysis extract select predict model.predict accuracy "
    "follows_planted_reason eraser_scores plant load from_function remote from_pipeline from_network layer_analysis "
    "attention_analysis concepts lens train examples class_words read save report figure latex write_csv to_data_frame "
    "to_dataset to_shap write_eraser write_eraser_examples write_json_lines write_blind_sheet read_blind_sheets "
    "Example HiddenState find_concepts concept_map text_concepts judge_concepts concept_activations "
    "LearntConcepts.target LearntConcepts.read".split()
)


def test_every_door_is_tried(every_door):
    assert set(every_door) == set(NAMES)
    assert len(odd_values()) >= 200


@pytest.mark.parametrize("share", ["few", pytest.param("all", marks=[pytest.mark.long, pytest.mark.timeout(3600)])])
@pytest.mark.parametrize("name", NAMES)
def test_an_odd_argument_ends_in_a_result_or_a_sentence(every_door, name, share):
    door = every_door[name]
    for argument in door.arguments:
        values = odd_values()  # made anew: iterators are used up
        count = len(values) if share == "all" else FEW // 4 if name in COSTLY else FEW
        for number in Random(f"{name} {argument}").sample(range(len(values)), count):
            assert_result_or_sentence(door, argument, values[number], number)


def assert_result_or_sentence(door, argument, value, number):
    """Call a door with an odd value in the place of one argument."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            door.call(**{**door.arguments, argument: value})
    except PellucidError as error:
        assert_good_message(error)
    except Exception as error:
        error.add_note(f"{argument} = odd_values()[{number}], a {type(value).__name__}")
        raise
