"""The study of methods on SST-2 in small: resumed part by part, tolerant of methods that fail, shown with intervals."""

import json
from dataclasses import replace
from functools import wraps
from xml.etree import ElementTree

import pytest

import pellucid
from pellucid.base.entry import imported_entry
from pellucid.base.errors import BadFile, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.base.processes import silent
from pellucid.results.table import Interval
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.runner import main
from studies.shared.study import Settings
from studies.shared.text_choice import with_smallest_digests
from studies.sst2_methods.page import METRICS, as_page, as_picture, better, ranked, summarise
from studies.sst2_methods.study import METHODS, SIZES, measure, method_choices
from tests.shared.tiny_training import save_encoder

pytestmark = pytest.mark.whole


NAMED = {"title": "SST-2"}


@pytest.fixture(scope="module")
def settings(tmp_path_factory):
    """The tiny size, on our own sentences in place of SST-2's."""
    folder = tmp_path_factory.mktemp("study")
    for part in ("train", "dev", "test"):
        two = [one for one in pellucid.examples("pocket", part) if one.label != "neutral"]
        pellucid.write_json_lines(two[:48], folder / "data" / f"{part}.jsonl")
    encoder, data = str(save_encoder(folder / "encoder")), str(folder / "data")
    return Settings("tiny", SIZES["tiny"], folder / "out", data, folder / "work", encoder=encoder)


@pytest.fixture(scope="module")
def results(settings):
    return measure(settings, silent)


def test_each_method_has_a_value_for_each_seed_and_text(results):
    assert list(results["methods"]) == ["chance(n_draws=2)", "occlusion"]
    assert [model["seed"] for model in results["models"]] == [0, 1]
    assert len({model["hash"] for model in results["models"]}) == 2
    for by_seed in results["methods"].values():
        for one in by_seed.values():
            assert all(len(one["values"][metric]) == 4 for metric in METRICS)


def test_the_sentences_are_selected_by_digest_whatever_their_order():
    test = pellucid.examples("pocket", "test")
    five = with_smallest_digests(test, 5)
    assert five == with_smallest_digests(test[::-1], 5) == with_smallest_digests(test, 9)[:5]


def test_finished_parts_are_read_and_a_killed_one_is_judged_again(settings, results, monkeypatch):
    monkeypatch.setattr("pellucid.training.train.train", None)  # it would be called to train again
    (settings.work / "judged" / "plain-1" / "occlusion" / "parts" / "0000.json").unlink()
    texts = []
    real = attributions.get("occlusion")

    @wraps(real.make)
    def occlusion(run, target, **settings):
        texts.append(len(run.batch))
        return real.make(run, target, **settings)

    monkeypatch.setitem(attributions._entries, "occlusion", imported_entry("occlusion", occlusion, real.facts))
    assert measure(settings, silent)["methods"]["occlusion"] == results["methods"]["occlusion"]
    assert sum(texts) == 4


def test_a_method_that_fails_is_recorded_and_ends_nothing(settings, results, tmp_path, monkeypatch):
    def broken(run, target):
        if run.model.name.endswith("1"):
            raise ModelCannot("Not this model.")
        return attributions.get("gradient").make(run, target, norm="l2")

    facts = attributions.get("gradient").facts
    attributions.names()
    monkeypatch.setitem(attributions._entries, "broken", imported_entry("broken", broken, facts))
    size = SIZES["tiny"].__class__(4, 2, 1, 32, (*SIZES["tiny"].methods, "broken", ("occlusion", {"widow": 2})))
    numbers = NAMED | summarise(measure(replace(settings, size=size), silent))
    assert numbers["methods"]["broken"]["seeds"] == 1
    assert numbers["failed"]["broken"] == {"1": "Not this model"}
    assert "widow" in numbers["failed"]["occlusion(widow=2)"]["0"]
    page = as_page(numbers)
    assert "| broken, 1 of 2 seeds |" in page and "- broken, seed 1: Not this model" in page
    assert numbers["methods"]["occlusion"] == summarise(results)["methods"]["occlusion"]


def test_parts_of_another_comparison_end_the_study(settings, results, tmp_path):
    size = SIZES["tiny"].__class__(5, 2, 1, 32, SIZES["tiny"].methods)
    with pytest.raises(BadFile, match="another comparison"):
        measure(replace(settings, size=size), silent)


def test_all_usual_methods_are_run_and_what_is_not_there_is_left_out(bert):
    names = [choice if isinstance(choice, str) else choice[0] for choice in method_choices(SIZES["small"], bert)]
    usual = {name for name in attributions.names() if attributions.get(name).facts["usual"]}
    assert (
        usual - {"span_attention", "unit_attention", "rationale", "b_cos", "linear_coefficients"}
        <= set(names)
        <= set(attributions.names())
    )
    assert names[0] == "chance" and SIZES["small"].seeds == 3 and SIZES["small"].texts == 100


def test_the_settings_of_methods_that_are_there_are_theirs():
    there = [choice for choice in METHODS if not isinstance(choice, str) and choice[0] in attributions.names()]
    titles = [call.title for call in attributions.calls([*there])]
    assert len(set(titles)) == len(there)


def test_intervals_are_paired_with_chance_and_signed_so_that_more_is_better(results):
    summary = summarise(results)
    for metric in METRICS:
        floor = summary["methods"]["chance(n_draws=2)"][metric]
        assert floor["over_chance"] == {"mean": 0.0, "low": 0.0, "high": 0.0}
        ours = summary["methods"]["occlusion"][metric]
        assert ours["over_chance"]["mean"] == pytest.approx(ours["value"]["mean"] - floor["value"]["mean"])
    over = {"mean": -0.2, "low": -0.3, "high": -0.1}
    assert better("hiding", over) == Interval(0.2, 0.1, 0.3)  # less is better there
    assert better("revealing", over) == Interval(-0.2, -0.3, -0.1)
    assert ranked(summary["methods"]) == ["occlusion", "chance(n_draws=2)"]


def test_the_picture_has_a_row_a_method_and_escapes_names(results):
    picture = as_picture(NAMED | summarise(results))
    texts = [node.text for node in ElementTree.fromstring(picture).iter() if node.tag.endswith("text")]
    assert texts.count("occlusion") == 1 and set(METRICS) <= set(texts)
    nan = float("nan")
    panel = Panel("<p>", "&", {"<b>": Interval(0.1, nan, nan), "c": None, "d": Interval(-1.0, -2.0, -0.5)})
    strange = ElementTree.fromstring(interval_plot("</svg>", ["<b>", "c", "d"], [panel], "'"))
    assert [node.get("fill") for node in strange.iter() if node.tag.endswith("circle")][1] == "#a5262c"


def test_the_command_writes_numbers_page_and_picture(settings, results, tmp_path, capsys):
    words = [
        "sst2_methods",
        "--size",
        "tiny",
        "--data",
        settings.data,
        "--work",
        settings.work,
        "--out",
        tmp_path,
    ]
    main([*map(str, words), "--encoder", settings.encoder])
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out.startswith("# data in place of SST-2") and "| occlusion |" in page
    numbers = json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))
    assert numbers["models"][0]["hash"][:16] in page and len(numbers["texts"]) == 4
    assert (tmp_path / "picture.svg").exists() and (tmp_path / "values.json").exists()
