"""Checks in a comparison's folder: each leaves a file, and an interrupted comparison goes on to the same bytes."""

import json
import random
import shutil

import pytest

from pellucid.base.errors import BadFile, BadInput, BadSetting, FolderMended
from pellucid.base.json_text import sealed
from pellucid.base.manifest import MANIFEST
from pellucid.comparison import comparison as parts
from pellucid.comparison import door as comparing
from pellucid.comparison.checking import NO_CHECKS
from pellucid.comparison.folder import ComparisonFolder
from pellucid.results.table import Table
from tests.shared.cases import LABELS
from tests.shared.check_cases import checking, comparison, twin
from tests.shared.moments import Moments, files_of, killed

CHECKS = ("method_agreement", ("method_agreement", {"k": 1}), "seed_agreement", "dead_token")


def run(folder, fatal=-1, named=CHECKS):
    """Compare and check in a folder, and count moments."""
    checks = checking(*named, twins=[twin()] if "seed_agreement" in named else ()) if named else NO_CHECKS
    with Moments(fatal) as moments:
        comparing.compare_in(ComparisonFolder(folder, comparison()), moments.progress, checks)
    return moments


@pytest.fixture(autouse=True)
def parts_of_three(monkeypatch):
    monkeypatch.setattr(parts, "PART", 3)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts, "PART", 3)
        return folder, run(folder)


def test_every_check_leaves_one_file_and_stands_in_the_table(whole):
    names = sorted(path.name for path in (whole[0] / "checks").iterdir())
    assert [name for name in names if "-" not in name] == [
        "dead_token.json",
        "method_agreement.json",
        "seed_agreement.json",
    ]
    assert len(names) == 4
    table = Table.read(whole[0] / "table.json")
    titles = [one.check for one in table.checks]
    assert titles == ["method_agreement", "method_agreement(k=1)", "seed_agreement", "dead_token"]
    assert "dead token" in (whole[0] / "report.html").read_text(encoding="utf-8") and "dead token" in str(table)


@pytest.mark.parametrize("count", [pytest.param(6, marks=pytest.mark.whole), pytest.param(20, marks=pytest.mark.long)])
def test_killed_at_random_moments_it_goes_on_and_ends_with_the_same_bytes(whole, tmp_path, count):
    """The last four moments, at which the table and the page are written, are among them."""
    finished, moments = whole
    for moment in [
        *random.Random(7).sample(range(moments.count - 4), count - 4),
        *range(moments.count - 4, moments.count),
    ]:
        folder = tmp_path / str(moment)
        killed(run, folder, moment)
        run(folder)
        assert files_of(folder) == files_of(finished), f"killed at moment {moment}"


def test_a_finished_folder_is_read_and_more_checks_go_on_from_it(whole, tmp_path):
    run(tmp_path, named=())
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()}
    run(tmp_path, named=CHECKS[:1])
    assert run(tmp_path, named=CHECKS[:1]).count == 0
    run(tmp_path)
    assert files_of(tmp_path) == files_of(whole[0])
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()} == before


@pytest.fixture
def unlisted(whole, tmp_path):
    """As an interrupted comparison is, or one of an earlier version: no manifest says which files are damaged."""
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    (tmp_path / MANIFEST).unlink()
    return tmp_path


def test_an_outcome_of_another_twin_is_refused(unlisted):
    path = unlisted / "checks" / "seed_agreement.json"
    content = json.loads(path.read_text())
    owner = content.pop("seal")["of"]
    path.write_text(json.dumps(sealed(content, {**owner, "twins": {"other": "0"}}), ensure_ascii=False, indent=1))
    with pytest.raises(BadFile, match=r"seed_agreement.json is of .*twins.*; remove it to have it made again"):
        run(unlisted)


@pytest.mark.parametrize(
    "harm",
    (
        lambda path: path.write_text("{}"),
        lambda path: path.write_bytes(path.read_bytes()[:-2]),
        lambda path: path.write_bytes(path.read_bytes().replace(b'"rule"', b'"Rule"')),
        lambda path: shutil.copy(next(each for each in path.parent.iterdir() if each != path), path),
    ),
)
def test_a_damaged_outcome_is_named_and_computed_again(whole, unlisted, harm):
    harm(unlisted / "checks" / "seed_agreement.json")
    with pytest.warns(FolderMended, match=r"changed: checks/seed_agreement\.json\."):
        run(unlisted)
    assert files_of(unlisted) == files_of(whole[0])


def test_a_damaged_outcome_is_computed_again_where_a_manifest_says_so(whole, tmp_path):
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    (tmp_path / "checks" / "seed_agreement.json").write_text("{}")
    with pytest.warns(FolderMended, match=r"checks/seed_agreement.json"):
        run(tmp_path)
    assert files_of(tmp_path) == files_of(whole[0])


def test_twins_with_other_classes_or_pieces_are_refused():
    from dataclasses import replace

    from tests.shared.tiny import tiny_classifier

    with pytest.raises(
        BadInput,
        match="has the classes a, b, c, and tiny mean has negative, neutral, positive; give twins of",
    ):
        checking("seed_agreement", twins=[replace(twin(), labels=("a", "b", "c"))])
    other = replace(tiny_classifier("bert"), labels=LABELS)
    with pytest.raises(
        BadInput, match="cuts texts into other pieces than tiny mean; give twins with the same tokenizer"
    ):
        checking("seed_agreement", twins=[other])


def test_twins_without_a_check_and_k_of_0_are_refused(tmp_path):
    with pytest.raises(BadSetting, match=r"none was named; give checks=\['seed_agreement'\]"):
        checking(twins=[twin()])
    with pytest.raises(BadSetting, match="k=0 is too small; give 1 or more"):
        run(tmp_path, named=(("method_agreement", {"k": 0}),))


def test_all_means_every_check_that_has_what_it_needs():
    without, named = ({call.title for call in checking("all", twins=twins).calls} for twins in ((), [twin()]))
    assert named - without == {"seed_agreement"} and "dead_token" in without


def test_other_data_sets_are_read_from_a_folder_and_one_without_a_common_method_is_refused(whole):
    checks = checking("corpus_agreement", corpora=[whole[0]])
    assert list(checks.corpora) == [str(whole[0])] and len(checks.digests["corpora"]) == 1
    import pellucid

    strange = pellucid.explain(twin(), ["fine"], "occlusion")
    with pytest.raises(BadInput, match="data set 2 is explained by occlusion, and this comparison has gradient"):
        checking("corpus_agreement", corpora=[strange])
    with pytest.raises(BadSetting, match="Other data sets are read by checks, and none was named"):
        checking(corpora=[whole[0]])
