"""`pellucid attack` where no edit was tried: what happened is printed, and one sentence says what to do."""

import json

import pytest

from pellucid.text.wordnet import wordnet_folder
from tests.shared.tiny import LABELS, save_tiny


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_tiny(tmp_path_factory.mktemp("model"), "bert", LABELS)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            (".", "--attack", "deepwordbug"),
            "Nothing in the text may be edited: no word or span has a replacement",
        ),
        ((".", "!", "--attack", "deepwordbug"), "Nothing in the 2 texts may be edited"),
        (
            ("A gripping, lovely film.", "--attack", "deepwordbug", "--max-queries", 1),
            "--max-queries 1 is used up by the order alone in the text, before a word is edited; give more",
        ),
    ],
)
def test_attacks_that_try_no_edit_end_in_one_sentence_and_status_2(run, folder, words, message):
    status, out, err = run("attack", folder, *words, "--json")
    assert status == 2 and message in err
    assert {one["ending"] for one in json.loads(out)["attempts"]} <= {"nothing to edit", "budget"}


def test_one_text_that_can_be_edited_is_enough(run, folder):
    status, _, err = run("attack", folder, ".", "A gripping, lovely film.", "--attack", "deepwordbug")
    assert status == 0 and "may be edited" not in err


@pytest.mark.skipif(not (wordnet_folder() / "data.noun").is_file(), reason="WordNet is not installed")
def test_several_attacks_say_which_one_is_at_work_and_have_settings_of_their_own(run, folder):
    both = ("A gripping, lovely film.", "--attack", "deepwordbug,screened,deepwordbug", "--json")
    status, out, err = run("attack", folder, *both, "--set", "screened.per_unit=1")
    assert status == 0 and "deepwordbug, attack 1 of 2" in err and "screened, attack 2 of 2" in err
    assert [one["attack"] for one in json.loads(out)["attempts"]] == ["deepwordbug", "screened(per_unit=1)"]
    status, _, err = run("attack", folder, *both, "--set", "per_unit=1")
    assert status == 2 and "--set per_unit could be of several attacks" in err
    status, _, err = run("attack", folder, *both, "--set", "pwws.per_unit=1")
    assert status == 2 and "pwws is not among the attacks to run" in err
