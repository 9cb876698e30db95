"""The studies of transfers and of agreement with people's marks, tiny: resumed unit by unit, shown beside the paper."""

import json
from dataclasses import replace

import pytest

from pellucid.base.errors import BadFile
from pellucid.base.processes import silent
from pellucid.evidence.extract import extract_from, selection_for
from pellucid.results.table import Interval
from pellucid.text.ranges import TIES
from studies.s0_eraser.numbers import FEW, verdict
from studies.s0_eraser.settings import RIVALS, SPANS
from studies.s0_eraser.settings import SIZES as ERASER_SIZES
from studies.s0_eraser.study import best_penalties, s0_eraser
from studies.s0_transfers.page import as_page
from studies.s0_transfers.rows import MODES, ROWS, SIZES, full_texts
from studies.s0_transfers.spans import cut, trained
from studies.s0_transfers.study import s0_transfers
from studies.shared.equal_scores import RECORD
from studies.shared.runner import main
from studies.shared.study import Settings
from studies.shared.unit_files import unpack_units
from tests.shared.tiny_training import save_encoder

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def encoder(tmp_path_factory):
    return str(save_encoder(tmp_path_factory.mktemp("encoder")))


@pytest.fixture(scope="module")
def transferred(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("transfers")
    own = {"concentration": 1.5, "rows": []}
    settings = Settings("tiny", SIZES["tiny"], folder / "out", "pocket", folder / "work", encoder=encoder, own=own)
    return settings, s0_transfers().numbers(settings)


@pytest.fixture(scope="module")
def judged(encoder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("eraser")
    size = ERASER_SIZES["tiny"]
    settings = Settings("tiny", size, folder / "out", "pocket", folder / "work", encoder=encoder)
    return settings, s0_eraser().numbers(settings)


def test_every_row_has_its_accuracies_coverage_and_probe(transferred):
    _, numbers = transferred
    assert set(numbers["rows"]) == {*ROWS, *MODES}
    for row in numbers["rows"].values():
        assert 0 < row["coverage"] <= 1 and row["words"] >= 1
        assert all(0 <= mean <= 100 for mean, _, _ in (row[way] for way in ("F-S", "S-F", "S-S")))
        assert 0 <= row["leak"]["leaks"] <= len(row["leak"]["by_seed"])
    same = {numbers["rows"][name]["words"] for name, row in ROWS.items() if row.like}
    assert same == {numbers["rows"]["span_attention"]["words"]}
    assert numbers["rows"]["average_gradient-literal"]["words"] == 1


def test_finished_units_are_read_and_a_missing_one_is_done_again_with_the_models_that_are_there(
    transferred, monkeypatch
):
    settings, numbers = transferred
    unpack_units(settings.runs)
    (settings.runs / "random_span-0.json").unlink()
    monkeypatch.setattr("pellucid.training.train.train", None)  # it would be called to train again
    again = s0_transfers().numbers(settings)
    assert {**again, "seconds": 0} == {**numbers, "seconds": 0}


def test_rows_that_differ_in_the_selection_alone_are_cut_in_one_pass(transferred):
    settings, _ = transferred
    by_itself = cut(settings, "average_gradient-literal", 0)["test"]
    (again,) = extract_from(
        trained(settings, "plain", 0),
        full_texts(settings)["test"],
        "average_gradient",
        [selection_for("average_gradient", "literal", None, 1, None)],
        {},
        seed=0,
        progress=silent,
    )
    assert [one.spans for one in by_itself] == [one.spans for one in again]
    assert sorted(path.name for path in (settings.work / "spans").glob("average_gradient-*")) == sorted(
        f"average_gradient{mode}-0" for mode in ("", "-literal", "-budget", "-max_sum_centred", "-predicted")
    )


def test_numbers_of_other_settings_are_refused(transferred):
    settings, _ = transferred
    other = replace(settings, own={"concentration": 2.0, "rows": []})
    with pytest.raises(BadFile, match="give another folder"):
        s0_transfers().numbers(other)
    with pytest.raises(BadFile, match="give another folder"):  # its spans lie in --work
        s0_transfers().numbers(replace(other, out=settings.out.parent / "other"))


def test_the_page_of_transfers_has_the_papers_numbers_beside(transferred):
    _, numbers = transferred
    page = as_page(numbers)
    assert "(38.4)" in page and "| random_span_of_length |" in page and "| S-S | random_span |" in page
    assert page.count("average_attention-literal") == 1


def test_every_extractor_is_judged_in_three_cuts_of_equal_length(judged):
    _, numbers = judged
    for task, of_task in numbers["tasks"].items():
        size = ERASER_SIZES["tiny"][task]
        assert set(of_task["models"]) == set(size.kinds)
        spans = {kind for kind in size.kinds if kind in SPANS}
        assert set(of_task["spans"]) == spans
        rivals = {name for name, kind in RIVALS.items() if kind in size.kinds}
        for rows in of_task["cuts"].values():
            assert set(rows) == rivals | spans
            assert all(0 <= scores["iou_f1"][0] <= 1 for scores in rows.values())
        for way in ("budget", "words"):  # in the benchmark's own words
            shares = [of_task["taken"][row][way] for row in rivals | spans]
            assert max(shares) - min(shares) < 1e-9, f"{task}, {way}: 20.7 % against 26 % is not equal"


def test_nothing_is_claimed_from_two_seeds_or_of_a_collapsed_model(judged):
    _, numbers = judged
    claims = [claim for of_task in numbers["tasks"].values() for claim in of_task["claims"]]
    assert claims and all(claim["verdict"] == FEW for claim in claims)
    above = Interval(0.2, 0.1, 0.3)
    assert verdict(above, "rationale", 3, collapsed=False) == "reproduced"
    assert verdict(above, "random_span", 3, collapsed=False) == "better"
    assert verdict(above, "rationale", 3, collapsed=True) == "collapsed: no verdict"


def test_the_penalty_is_the_best_on_dev_among_those_that_did_not_collapse():
    tried = [
        {"task": "snli", "kind": "span", "penalty": name, "dev_accuracy": accuracy, "collapsed": collapsed}
        for name, accuracy, collapsed in (("a", 0.7, True), ("b", 0.6, False), ("c", 0.65, False))
    ]
    assert best_penalties(tried) == {("snli", "span"): "c"}
    assert best_penalties(tried[:1]) == {("snli", "span"): "a"}


def test_numbers_of_another_penalty_or_of_the_older_study_are_refused(judged):
    settings, _ = judged
    unpack_units(settings.runs)
    path = settings.runs / "judged-snli-span_stripped-0.json"
    saved = path.read_text(encoding="utf-8")
    old = {"about": {"sizes": {}, "data": "pocket", "concentration": 1.5, "seed": 0}, "task": "snli"}
    for other in (old, {**json.loads(saved), "about": {**json.loads(saved)["about"], "penalty": "lambda_9"}}):
        path.write_text(json.dumps(other), encoding="utf-8")
        with pytest.raises(BadFile, match="remove it"):  # of something else, or changed
            s0_eraser().numbers(settings)
    path.write_text(saved, encoding="utf-8")


def test_the_command_reads_what_is_finished_and_writes_the_page(judged, encoder, capsys):
    settings, numbers = judged
    words = [
        "s0_eraser",
        "--data",
        "pocket",
        "--work",
        settings.work,
        "--out",
        settings.out,
        "--size",
        "tiny",
    ]
    main([*map(str, words), "--encoder", encoder])
    page = (settings.out / "README.md").read_text(encoding="utf-8")
    assert capsys.readouterr().out.strip() == page.strip()
    assert "(0.454)" in page and page.count("### One span each, by the paper's rule") == 2
    result = json.loads((settings.out / "result.json").read_text(encoding="utf-8"))
    assert result.pop("ran")["data"] == "pocket"
    assert result == json.loads(json.dumps({**numbers, RECORD: TIES}))
