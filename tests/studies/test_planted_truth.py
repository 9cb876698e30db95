"""The study of planted reasons: only learnt reasons are scored, finished work is not repeated, the page says both."""

import json
import shutil
from dataclasses import replace

import pytest

from pellucid.base.errors import BadFile
from pellucid.base.kinds import reasons
from studies.planted_truth.page import as_page
from studies.planted_truth.study import SIZES, planted_truth, planted_units
from studies.shared.runner import main
from studies.shared.study import Settings
from studies.shared.unit_files import unpack_units
from tests.shared.tiny_training import save_encoder

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(save_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="module")
def scored(encoder, tmp_path_factory):
    """A tiny run in which everything counts as learnt: (its settings, its results)."""
    out = tmp_path_factory.mktemp("study")
    settings = Settings("tiny", SIZES["tiny"], out, encoder=encoder, own={"enough": 0.0, "seed": 0})
    return settings, run(settings)


def run(settings):
    return planted_truth().numbers(settings)


def test_every_reason_is_studied():
    assert set(SIZES["small"].reasons) == set(reasons.names())


def test_all_methods_that_the_model_supports_are_scored_against_chance(scored):
    _, results = scored
    assert [(one["about"]["reason"], one["about"]["pooler"]) for one in results] == [
        (reason, pooler) for reason in ("token", "order") for pooler in ("first_token", "span")
    ]
    for one in results:
        assert {"chance", "occlusion", "integrated_gradients"} <= set(one["methods"])
        assert ("span_attention" in one["methods"]) == (one["about"]["pooler"] == "span")
        for numbers in one["methods"].values():
            for measure in ("reason_found", "decoy_first"):
                assert 0 <= numbers[measure]["value"]["mean"] <= 1
        assert one["methods"]["chance"]["reason_found"]["over_chance"]["mean"] == 0


def test_finished_models_and_results_are_read(scored, monkeypatch):
    settings, results = scored
    unpack_units(settings.runs)
    (settings.runs / "token-span.json").unlink()
    monkeypatch.setattr("pellucid.training.train.train", None)  # it would be called to train again
    again = run(settings)
    for one, other in zip(again, results, strict=True):
        assert {**one, "seconds": None} == {**other, "seconds": None}


def test_what_was_not_learnt_is_not_scored(scored, tmp_path):
    settings, _ = scored
    shutil.copytree(settings.out / "models", tmp_path / "models")
    results = run(replace(settings, out=tmp_path, own={"enough": 0.95, "seed": 0}))
    assert all(not one["learnt"]["holds"] and one["methods"] == {} for one in results)
    page = as_page(results)
    assert page.count("Nothing was learnt: nothing can be said about explainers.") == 4
    assert "occlusion" not in page


def test_results_of_other_settings_are_refused(scored):
    settings, _ = scored
    with pytest.raises(BadFile, match="give another folder"):
        run(replace(settings, own={"enough": 0.0, "seed": 1}))


def test_the_page_has_a_row_a_method_and_a_column_a_reason(scored):
    _, results = scored
    page = as_page(results)
    assert "| method | token | order |" in page
    assert page.count("| occlusion |") == 4 and page.count("| span_attention |") == 2
    half = [one if one["about"]["reason"] == "token" else {**one, "methods": {}} for one in results]
    assert "| method | token |" in as_page(half)


def test_what_was_not_run_is_listed_and_a_reason_can_be_tried_with_more_texts(scored, tmp_path):
    settings, results = scored
    more = replace(settings, size=replace(settings.size, more={"token": 24}))
    assert [one.about["n"] for one in planted_units(more)[-2:]] == [24, 24]
    assert [one["about"] for one in run(replace(more, finished=True))] == [one["about"] for one in results]
    page = as_page(results, ["token-24-span"])
    assert "**Not run yet, so not judged:** token-24-span." in page and "**One training of each:**" in page
    bigger = {**results[0], "about": {**results[0]["about"], "n": 24}}
    assert "| method | token | token, 24 texts |" in as_page([results[0], bigger])


def test_the_command_writes_the_page_and_the_numbers(scored, encoder, tmp_path, capsys):
    settings, _ = scored
    shutil.copytree(settings.out, tmp_path, dirs_exist_ok=True)
    unpack_units(tmp_path / "runs")
    (tmp_path / "runs" / "token-first_token.json").unlink()  # this one is run again; the others are finished
    words = ["planted_truth", "--size", "tiny", "--encoder", encoder, "--out", str(tmp_path), "--enough", "0"]
    main(words)
    assert capsys.readouterr().out.startswith("# Planted truth")
    assert "| occlusion |" in (tmp_path / "README.md").read_text(encoding="utf-8")
    assert len(json.loads((tmp_path / "result.json").read_text(encoding="utf-8"))) == 4
