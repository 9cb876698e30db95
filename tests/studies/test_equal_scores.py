"""A page says that its numbers are of before the rule for equal scores, until they are measured anew."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pellucid.base.json_text import sealed
from studies.quoted_blocks.blocks import equal_scores_in
from studies.shared.equal_scores import EqualScores, follows_rule
from studies.shared.runner import run_study
from studies.shared.study import Settings, Study, UnitStages, studies
from studies.shared.unit_files import unpack_units
from studies.shared.units import Unit

ROOT = Path(__file__).parents[2]
RULE = EqualScores("ranks took equal scores in reading order", "This concerns all methods.", stage="ranking")
SENTENCE = (
    "Measured before numbers were means over the orders of equal scores: ranks took equal scores in reading order."
)
RANKING = [name for name in studies.names() if studies.get(name).make().equal_scores]


def measure(share):
    return {"rank": 1}


STUDY = Study(
    {"tiny": 1},
    UnitStages({"ranking": lambda settings, records: [Unit("one", {}, measure)]}),
    lambda settings, records: {"rank": records["ranking"]["one"]["rank"]},
    lambda settings, numbers: f"# Ranks\n\n{numbers['rank']}\n",
    equal_scores=RULE,
)


def test_numbers_of_before_the_rule_are_marked_until_they_are_measured_anew(tmp_path):
    settings = Settings("tiny", 1, tmp_path)
    assert run_study(STUDY, settings) == "# Ranks\n\n1\n"
    result = json.loads((tmp_path / "result.json").read_text())
    assert follows_rule(result) and result["rank"] == 1

    unpack_units(settings.runs)
    file = settings.runs / "one.json"
    unit = json.loads(file.read_text())
    seal = unit.pop("seal")["of"]
    del unit["computed"]["equal_scores"]
    file.write_text(json.dumps(sealed(unit, seal)))
    assert run_study(STUDY, settings) == f"# Ranks\n\n{SENTENCE} This concerns all methods.\n\n1\n"
    assert "equal_scores" not in json.loads((tmp_path / "result.json").read_text())

    (tmp_path / "units.jsonl.xz").unlink()
    assert run_study(STUDY, settings) == "# Ranks\n\n1\n"
    assert run_study(replace(STUDY, equal_scores=None), settings) == "# Ranks\n\n1\n"


@pytest.mark.parametrize("name", RANKING)
def test_stored_pages_say_what_their_results_say(name):
    rule = studies.get(name).make().equal_scores
    results = sorted((ROOT / "studies" / name).rglob("result.json"))
    assert results
    for result in results:
        page = (result.parent / "README.md").read_text(encoding="utf-8")
        assert (rule.sentence in page) != follows_rule(json.loads(result.read_text(encoding="utf-8")))


def test_a_quoted_sentence_goes_with_its_result(tmp_path):
    result = tmp_path / "studies" / "s1_planted" / "result.json"
    result.parent.mkdir(parents=True)
    for numbers, starts in (
        ({}, "Measured before"),
        ({"equal_scores": "mean over orders of equal scores"}, "Of equal"),
    ):
        result.write_text(json.dumps(numbers))
        assert equal_scores_in("s1_planted", tmp_path).startswith(starts)
