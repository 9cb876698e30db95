"""The studies of transfers and of agreement with people's marks, tiny: resumed unit by unit, shown beside the paper."""

import json
from dataclasses import replace

import pytest

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.progress import silent
from pellucid.core.results.table import Interval
from pellucid.studies import s0_eraser, s0_eraser_numbers, s0_transfers
from tests.training.tiny_training import save_encoder

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(save_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="module")
def transferred(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("transfers")
    settings = s0_transfers.Settings(
        s0_transfers.SIZES["tiny"], "pocket", folder / "work", folder / "out", encoder
    )
    return settings, s0_transfers.run(settings)


@pytest.fixture(scope="module")
def judged(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("eraser")
    settings = s0_eraser.Settings("tiny", "pocket", folder / "work", folder / "out", encoder)
    return settings, s0_eraser.run(settings)


def test_every_row_has_its_accuracies_coverage_and_probe(transferred):
    _, numbers = transferred
    assert set(numbers["rows"]) == {*s0_transfers.ROWS, *s0_transfers.MODES}
    for row in numbers["rows"].values():
        assert 0 < row["coverage"] <= 1 and row["words"] >= 1
        assert all(0 <= mean <= 100 for mean, _, _ in (row[way] for way in ("F-S", "S-F", "S-S")))
        assert isinstance(row["leak"]["leaks"], bool)
    same = {numbers["rows"][name]["words"] for name, row in s0_transfers.ROWS.items() if row.like}
    assert same == {numbers["rows"]["span_attention"]["words"]}
    assert numbers["rows"]["average_gradient-literal"]["words"] == 1


def test_finished_units_are_read_and_a_missing_one_is_made_again_from_kept_models(transferred, monkeypatch):
    settings, numbers = transferred
    (settings.out / "runs" / "random_span-0.json").unlink()
    monkeypatch.setattr("pellucid.training.train.train", None)  # it would be called to train again
    again = s0_transfers.run(settings)
    assert {**again, "seconds": 0} == {**numbers, "seconds": 0}


def test_rows_that_differ_in_the_selection_alone_are_cut_in_one_pass(transferred):
    settings, _ = transferred
    by_itself = s0_transfers.cut(settings, "average_gradient-literal", 0)["test"]
    (again,) = s0_transfers.extract_from(
        s0_transfers.trained(settings, "plain", 0),
        settings.parts["test"],
        "average_gradient",
        [s0_transfers.selection_for("average_gradient", "literal", None, 1, None)],
        {},
        0,
        silent,
    )
    assert [one.spans for one in by_itself] == [one.spans for one in again]
    assert sorted(path.name for path in (settings.work / "spans").glob("average_gradient-*")) == sorted(
        f"average_gradient{mode}-0" for mode in ("", "-literal", "-budget", "-max_sum_centred", "-predicted")
    )


def test_numbers_of_other_settings_are_not_taken_for_these(transferred):
    settings, _ = transferred
    with pytest.raises(BadFile, match="give another folder"):
        s0_transfers.run(replace(settings, concentration=2.0))
    with pytest.raises(BadFile, match="give another folder"):  # its spans lie in --work
        s0_transfers.run(replace(settings, concentration=2.0, out=settings.out.parent / "other"))


def test_the_page_of_transfers_has_the_papers_numbers_beside(transferred):
    _, numbers = transferred
    page = s0_transfers.as_page(numbers, "tiny")
    assert "(38.4)" in page and "| random_span_of_length |" in page and "| S-S | random_span |" in page
    assert page.count("average_attention-literal") == 1


def test_every_extractor_is_judged_in_three_cuts_of_equal_length(judged):
    _, numbers = judged
    for task, found in numbers["tasks"].items():
        size = s0_eraser.SIZES["tiny"][task]
        assert set(found["models"]) == set(size.kinds)
        spans = {kind for kind in size.kinds if kind in s0_eraser.SPANS}
        assert set(found["spans"]) == spans
        rivals = {name for name, kind in s0_eraser.RIVALS.items() if kind in size.kinds}
        for rows in found["cuts"].values():
            assert set(rows) == rivals | spans
            assert all(0 <= scores["iou_f1"][0] <= 1 for scores in rows.values())
        for cut in ("budget", "words"):  # in the benchmark's own words
            taken = [found["taken"][row][cut] for row in rivals | spans]
            assert max(taken) - min(taken) < 1e-9, f"{task}, {cut}: 20.7 % against 26 % is not equal"


def test_nothing_is_claimed_from_two_seeds_or_of_a_collapsed_model(judged):
    _, numbers = judged
    claims = [claim for found in numbers["tasks"].values() for claim in found["claims"]]
    assert claims and all(claim["verdict"] == s0_eraser_numbers.FEW for claim in claims)
    above = Interval(0.2, 0.1, 0.3)
    assert s0_eraser_numbers.verdict(above, "rationale", 3, collapsed=False) == "reproduced"
    assert s0_eraser_numbers.verdict(above, "random_span", 3, collapsed=False) == "better"
    assert s0_eraser_numbers.verdict(above, "rationale", 3, collapsed=True) == "collapsed: no verdict"


def test_the_penalty_is_the_best_on_dev_among_those_that_did_not_collapse():
    tried = [
        {"task": "snli", "kind": "span", "penalty": name, "dev_accuracy": accuracy, "collapsed": collapsed}
        for name, accuracy, collapsed in (("a", 0.7, True), ("b", 0.6, False), ("c", 0.65, False))
    ]
    assert s0_eraser.best_penalties(tried) == {("snli", "span"): "c"}
    assert s0_eraser.best_penalties(tried[:1]) == {("snli", "span"): "a"}


def test_numbers_of_another_penalty_or_of_the_older_study_are_not_taken(judged):
    settings, _ = judged
    path = settings.out / "runs" / "judged-snli-span_stripped-0.json"
    kept = path.read_text(encoding="utf-8")
    old = {"about": {"sizes": {}, "data": "pocket", "concentration": 1.5, "seed": 0}, "task": "snli"}
    for other in (old, {**json.loads(kept), "about": {**json.loads(kept)["about"], "penalty": "lambda_9"}}):
        path.write_text(json.dumps(other), encoding="utf-8")
        with pytest.raises(BadFile, match="remove it"):  # of something else, or changed
            s0_eraser.run(settings)
    path.write_text(kept, encoding="utf-8")


def test_the_command_reads_what_is_finished_and_writes_the_page(judged, encoder, capsys):
    settings, numbers = judged
    words = ["--data", "pocket", "--work", settings.work, "--out", settings.out, "--size", "tiny"]
    s0_eraser.main([*map(str, words), "--encoder", encoder])
    page = (settings.out / "README.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() == page.strip()
    assert "(0.454)" in page and page.count("### One span each, by the paper's rule") == 2
    assert json.loads((settings.out / "result.json").read_text(encoding="utf-8")) == json.loads(
        json.dumps(numbers)
    )
