"""The games of S1 in small: the layer is dev's choice, claims are signed, what cannot be run is said and not judged."""

import numpy as np
import pytest

import pellucid
from pellucid.base.kinds import attributions
from pellucid.base.processes import no_report
from studies.s1_games import tasks
from studies.s1_games.models import missing_method
from studies.s1_games.numbers import best_layer, claims, summarise
from studies.s1_games.page import as_page, sweep_picture
from studies.s1_games.study import game_units, games, judged_texts, unit_name
from studies.shared.study import Settings

DECODED, UNDECODED = tasks.DECODED, tasks.UNDECODED
NOT_YET = pytest.mark.skipif(
    DECODED not in attributions.names(), reason=f"no method is called {DECODED} in this version"
)


@pytest.fixture
def settings(tmp_path):
    own = {"task": "sst2", "lens": ""}
    return Settings("tiny", tasks.SIZES["tiny"], tmp_path / "out", "pocket", tmp_path / "work", own=own)


def areas(**by_method):
    """Areas of two texts for three seeds, a little different from seed to seed."""
    return {
        method.replace("__", " "): {seed: [value + seed / 1000, value] for seed in range(3)}
        for method, value in by_method.items()
    }


def game(revealing, hiding):
    return {"revealing": areas(**revealing), "hiding": areas(**hiding)}


def test_dev_chooses_the_layer_with_the_largest_gap_between_the_games():
    dev = game(
        {"decoded_saliency__l0": 0.8, "decoded_saliency__l1": 0.7, "grad_cam__l0": 0.99},
        {"decoded_saliency__l0": 0.7, "decoded_saliency__l1": 0.5, "grad_cam__l0": 0.1},
    )
    assert best_layer(dev, DECODED) == 1 and best_layer(dev, UNDECODED) == 0
    assert best_layer(dev, "occlusion") is None


def test_claims_are_positive_where_the_paper_is_right_in_both_games():
    test = game(
        {"decoded_saliency__l2": 0.87, "grad_cam__l0": 0.8, "grad_cam__l2": 0.86, "chance": 0.75},
        {"decoded_saliency__l2": 0.61, "grad_cam__l0": 0.71, "grad_cam__l2": 0.62, "chance": 0.76},
    )
    tested = {claim.words: claim for claim in claims(test, {DECODED: 2}, "sst2")}
    for name in ("revealing", "hiding"):
        claim = tested[f"{name}: the decoded layer of dev beats vanilla saliency of l0"]
        assert claim.measured.mean > 0 and claim.verdict == "reproduced"
    revealing = tested["revealing: the decoded layer of dev beats vanilla saliency of l0"]
    assert revealing.measured.mean == pytest.approx(7) and revealing.paper == 7.0
    hiding = tested["hiding: the decoded layer of dev beats random scores"]
    assert hiding.measured.mean == pytest.approx(15) and hiding.paper == 14.7
    assert not any("Shapley" in words for words in tested)


def test_what_was_not_run_is_no_claim_and_stands_on_the_page():
    records = {"models": {}, "games": {"one": unit("chance", 0), "two": unit("grad_cam l0", 0)}}
    about = {
        "task": "sst2",
        "title": "pocket in place of SST-2",
        "lens": "m/lens",
        "n_texts": 2,
        "n_dev": 2,
        "n_train": 9,
        "epochs": 1,
        "seeds": 1,
    }
    numbers = summarise(records, about, {DECODED: "this version has no method of that name"})
    page = as_page(numbers)
    assert "# pocket in place of SST-2:" in page and "the head of `m/lens`" in page
    assert numbers["claims"] == [] and "None of the claims could be tested." in page
    assert f"{DECODED}: this version has no method" in page and "grad_cam l0" in sweep_picture(numbers)


def unit(method, seed, split="test"):
    curve = {"revealing": [0.0, 1.0], "hiding": [1.0, 0.0]}
    values = {"revealing": [0.7, 0.8], "hiding": [0.6, 0.7]}
    return {"method": method, "seed": seed, "split": split, "values": values, "curves": curve}


def test_methods_that_are_not_here_are_missing_with_a_reason(settings, monkeypatch):
    assert missing_method(settings, "no_such_method") and not missing_method(settings, "chance")
    names = {one.name.rsplit("-", 1)[0] for one in game_units(settings, {})}
    here = attributions.names()
    for choice in tasks.methods(settings.size):
        name = choice if isinstance(choice, str) else choice[0]
        if name != DECODED:
            assert (unit_name("test", choice, 0).rsplit("-", 1)[0] in names) == (name in here)
    assert any(name.startswith("dev-grad_cam") for name in names) and "dev-chance" not in names


@NOT_YET
def test_decoded_saliency_runs_where_a_lens_can_be_trained_or_is_named(settings):
    if pellucid.__dict__.get("lens") is None and "lens" not in pellucid.__all__:
        pytest.skip("no door is called lens in this version")
    names = {one.name.rsplit("-", 1)[0] for one in game_units(settings, {})}
    assert {f"dev-{DECODED}-l{layer}" for layer in range(3)} <= names


def test_the_games_of_a_method_that_knows_the_word_beat_those_of_its_opposite():
    def answer(texts):
        return [[0.1, 0.9] if "good" in text else [0.9, 0.1] for text in texts]

    model = pellucid.from_function(answer, ["negative", "positive"])
    texts = [pellucid.Example(("a good long day out at sea",), "positive")]
    values, curves = games(model, texts, ("occlusion", {"unit": "piece"}), no_report)
    chance, _ = games(model, texts, ("chance", {"n_draws": 20, "unit": "piece"}), no_report)
    assert values["revealing"][0] > chance["revealing"][0] and values["hiding"][0] < chance["hiding"][0]
    assert len(curves["hiding"]) == 21 and curves["hiding"][0] == 1.0 and curves["hiding"][-1] == 0.0


def test_texts_are_cut_by_digest_and_ag_news_has_fewer(settings):
    small = Settings("small", tasks.SIZES["small"], settings.out, "pocket", settings.work, own=settings.own)
    assert tasks.TEXTS == {"sst2": 100, "ag_news": 60}
    assert tasks.SIZES["small"].seeds == {"sst2": 3, "ag_news": 3} and tasks.SIZES["small"].orders == 10
    first = judged_texts(small, "test")
    assert len(first) == min(100, len(tasks.part("pocket", "test"))) and first == judged_texts(small, "test")


def test_the_paper_s_numbers_are_those_of_its_tables():
    assert np.all(np.diff([tasks.PAPER["sst2"][name][0] for name in ("chance", "undecoded l0", "decoded")]) > 0)
    assert tasks.PAPER["ag_news"]["thermostat_shapley_sampling"] == (0.905, 0.567)
