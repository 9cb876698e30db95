"""The words of S1 in small: overlap over seeds, claims against decoded words, pictures that are computed."""

from xml.etree import ElementTree

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadSetting
from studies.s1_games.tasks import DECODED, SIZES, UNDECODED
from studies.s1_words.geometry import LAYERS, MIXING, decoded, geometry_picture, states, tokens
from studies.s1_words.numbers import claims, over_seeds, summarise
from studies.s1_words.page import as_page, clouds, curves, shown_method
from studies.s1_words.study import choices, lists_in_numbers
from studies.shared.study import Settings
from tests.words.test_word_lists import corpus


def unit(method, seed, overlap):
    lists = pellucid.class_words(corpus(), idf=["word1 word2", "film"]).lists
    numbers = lists_in_numbers(lists)
    curve = numbers["overlap"]["raw"] | {"lists": [0.0, overlap]}
    return {"seed": seed, "method": method, **numbers, "overlap": numbers["overlap"] | {"raw": curve}}


@pytest.fixture(scope="module")
def records():
    shares = {DECODED: (0.02, 0.03, 0.02), UNDECODED: (0.2, 0.21, 0.22), "chance": (0.1, 0.2, 0.3)}
    units = [unit(method, seed, one) for method, of in shares.items() for seed, one in enumerate(of)]
    return {"lists": {f"{one['method']}-{one['seed']}": one for one in units}}


def test_decoded_words_are_compared_with_each_other_method_over_seeds(records):
    by_method = {}
    for one in records["lists"].values():
        by_method.setdefault(one["method"], []).append(one)
    tested = {claim.words: claim for claim in claims(by_method)}
    first = tested[f"classes share fewer decoded words than words of {UNDECODED}"]
    assert first.measured.mean == pytest.approx(18.6667, abs=1e-3) and first.verdict == "reproduced"
    assert len(tested) == 3 and not claims({UNDECODED: by_method[UNDECODED]})


def test_an_interval_needs_two_seeds():
    assert over_seeds([1.0]).low != over_seeds([1.0]).low
    two = over_seeds([1.0, 3.0])
    assert (two.mean, two.high) == (2.0, pytest.approx(2 + 12.706, abs=1e-3))
    assert over_seeds([float("nan")]).mean != 0


def test_the_page_and_its_pictures_show_every_method(records):
    about = {"task": "sst2", "title": "SST-2", "lens": "", "n_texts": 40, "seeds": 3, "n_idf_texts": 2}
    numbers = summarise(records, about, {})
    page = as_page(numbers)
    assert all(f"| {method} |" in page for method in (DECODED, UNDECODED, "chance"))
    for picture in (curves(numbers), clouds(numbers), geometry_picture()):
        ElementTree.fromstring(picture)
    assert "rarest tokens" in curves(numbers)
    top = numbers["methods"][shown_method(numbers)]["top"]
    silent, *_ = top
    top[silent] = [(word, 0.0, count) for word, _, count in top[silent]]
    cloud = clouds(numbers)  # a class for which no word speaks has no cloud
    ElementTree.fromstring(cloud)
    assert f">{silent}</text>" not in cloud and all(f">{label}</text>" in cloud for label in list(top)[1:])


def test_figure_1_is_computed_and_its_columns_add_up():
    assert np.allclose(np.linalg.norm(tokens(), axis=1), 1) and np.allclose(MIXING.sum(1), 1)
    shares = decoded(states()[LAYERS])
    assert np.allclose(shares.sum(0), 1) and shares.shape == (2, 2)
    distances = [np.linalg.norm(state[0] - state[1]) for state in states()]
    assert np.all(np.diff(distances) < 0)
    assert f"{shares[0, 0]:.2f}" in geometry_picture()


def test_a_layer_is_late_or_a_number(tmp_path):
    def settings(layer):
        own = {"task": "sst2", "lens": "", "layer": layer, "idf": "pocket"}
        return Settings("tiny", SIZES["tiny"], tmp_path, "pocket", tmp_path, own=own)

    assert choices(settings("3"))[0] == (DECODED, {"layer": 3})
    assert choices(settings("late"))[1] == (UNDECODED, {"layer": "late"})
    with pytest.raises(BadSetting, match="give late, or a number"):
        choices(settings("top"))
