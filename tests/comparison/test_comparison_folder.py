"""A comparison kept in a folder: parts change no number, and an interrupted one goes on to the same bytes."""

import contextlib
import json
import random
import shutil
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pellucid.base.errors import BadFile, BadInput, FolderMended
from pellucid.base.kinds import metrics
from pellucid.base.manifest import MANIFEST
from pellucid.base.processes import silent
from pellucid.comparison import comparison
from pellucid.comparison import door as comparing
from pellucid.comparison.compared_part import compared_part
from pellucid.comparison.comparison_of import comparison_of
from pellucid.comparison.folder import ComparisonFolder
from pellucid.comparison.judged_part import JudgedPart, joined
from pellucid.comparison.table import comparison_table
from pellucid.models.classifiers.function import from_function
from pellucid.results.bootstrap import MetricValues
from pellucid.results.storage import read
from pellucid.results.table import Table
from pellucid.run.target import Target
from tests.shared.cases import LABELS, examples, mark, model
from tests.shared.moments import Moments, files_of, killed

METHODS, METRICS = ["gradient", ("chance", {"n_draws": 2})], ["hiding", "comprehensiveness", "token_f1"]


def some():
    """Six examples, four of them marked, each in another share of its words."""
    first, second, third, *others = examples()
    return [mark(first, [0, 1, 2]), second, mark(third, [4]), *(mark(each, [0]) for each in others)]


def compared(texts=None, methods=METHODS, calls=METRICS, target="predicted", seed=0, resamples=20):
    """The comparison of these texts, without any work done."""
    return comparison_of(
        model(), texts or some(), methods, calls, target=Target(target), seed=seed, resamples=resamples
    )


def run(folder, fatal=-1, question=None):
    """Compare in a folder, and count moments and steps."""
    with Moments(fatal) as moments:
        comparing.compare_in(ComparisonFolder(folder, question or compared()), moments.progress)
    return moments


@pytest.fixture(autouse=True)
def parts_of_two(monkeypatch):
    monkeypatch.setattr(comparison, "PART", 2)


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """An uninterrupted comparison in three parts: its folder and its moments."""
    folder = tmp_path_factory.mktemp("whole")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(comparison, "PART", 2)
        return folder, run(folder)


def in_memory(question):
    parts = [compared_part(question, number, silent) for number in range(question.n_parts)]
    return parts, joined([part.judged for part in parts])


@pytest.mark.parametrize("size", (1, 4, 6))
def test_the_size_of_the_parts_changes_no_value(monkeypatch, size):
    every = metrics.names()
    _, expected = in_memory(compared(calls=every))
    monkeypatch.setattr(comparison, "PART", size)
    _, in_parts = in_memory(compared(calls=every))
    assert in_parts.values.keys() == expected.values.keys()
    for pair, values in in_parts.values.items():
        np.testing.assert_allclose(values.columns, expected.values[pair].columns, atol=1e-5)


def test_a_part_is_about_a_minutes_work(monkeypatch):
    monkeypatch.setattr(comparison, "PART", 16)
    texts = [replace(example, segments=("a " * 50,), rationales=()) for example in examples()]
    few, many = ["gradient"], ["gradient", "gradient_x_input", "chance"]
    assert compared(texts, few, ["comprehensiveness"]).part_size == 16
    monkeypatch.setattr(comparison, "WORK", 1200)
    sizes = [compared(texts, methods, ["comprehensiveness"]).part_size for methods in (few, many)]
    assert sizes == [1200 // (100 * 2), 1200 // (100 * 3)]  # with chance: two methods, and three
    longer = [replace(example, segments=("a " * 5000,)) for example in texts]
    assert compared(longer, few, ["comprehensiveness"]).part_size == 1


def test_a_folder_with_parts_of_another_size_goes_on_in_its_own(tmp_path, monkeypatch, whole):
    """As folders of earlier versions do, whose parts were sixteen examples whatever their length."""
    expected, _ = whole
    stopped = tmp_path / "stopped"
    with pytest.raises(Stop):
        comparing.compare_in(ComparisonFolder(stopped, compared()), stop_at(3))
    monkeypatch.setattr(comparison, "WORK", 1)
    assert compared().part_size == 1
    run(stopped)
    assert files_of(stopped) == files_of(expected)
    assert run(stopped).count == 0


def test_what_other_parts_did_spares_a_part_no_work():
    """Else the reported work, and the last bits of the values, would depend on where a comparison was interrupted."""
    (first, again), _ = in_memory(compared(some()[:2] * 2))
    assert first.judged.rows == again.judged.rows > 0


def test_the_budget_of_plausibility_is_that_of_all_parts():
    question = compared()
    (_, judged), share = in_memory(question), question.marked_share
    fixed, _ = in_memory(compared(calls=[("token_f1", {"budget": share})]))
    assert 0 < share < 1
    expected = joined([part.judged for part in fixed]).values["gradient", f"token_f1(budget={share})"]
    np.testing.assert_array_equal(judged.values["gradient", "token_f1"].columns, expected.columns)


def test_a_folder_gives_what_memory_gives(whole):
    folder, _ = whole
    parts, judged = in_memory(compared())
    table = comparison_table(compared(), [judged])
    assert Table.read(folder / "table.json") == table
    for number, part in enumerate(parts):
        saved = read(folder / "parts" / f"{number:04d}.parquet")
        assert saved == [each for of_method in part.explanations.values() for each in of_method]


def test_a_folder_holds_what_it_says(whole):
    folder, _ = whole
    parts = {f"parts/{number:04d}.{kind}" for number in range(3) for kind in ("json", "parquet")}
    own = {"question.json", "report.html", "table.json", "values.parquet", MANIFEST}
    assert files_of(folder).keys() == {*own, *parts}
    report = (folder / "report.html").read_text(encoding="utf-8")
    assert "soup" in report
    assert "Which method can be believed" in report


@pytest.mark.whole
def test_killed_at_any_moment_it_goes_on_and_ends_with_the_same_bytes(whole, tmp_path):
    finished, moments = whole
    early = random.Random(20).sample(range(moments.count - 6), 8)
    for moment in [*early, *range(moments.count - 6, moments.count)]:  # the last ones: report and table
        folder = tmp_path / str(moment)
        killed(run, folder, moment)
        run(folder)
        assert files_of(folder) == files_of(finished), f"killed at moment {moment}"


class Stop(Exception):
    """The user's Ctrl-C."""


def stop_at(most):
    """Progress that stops the work once so many examples are done."""

    def progress(_, done, __):
        if done >= most:
            raise Stop

    return progress


@pytest.mark.parametrize("most", (1, 3, 5))
def test_a_stopped_comparison_keeps_its_complete_parts_and_reports_where_it_goes_on(whole, tmp_path, most):
    reports, folder = [], ComparisonFolder(tmp_path, compared())
    with pytest.raises(Stop):
        comparing.compare_in(folder, stop_at(most))
    complete = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "parts").glob("*.json")}
    assert len(complete) == (most - 1) // 2
    comparing.compare_in(folder, lambda *facts: reports.append(facts))
    assert not complete or reports[len(complete) - 1] == ("comparing", 2 * len(complete), 6)
    assert [done for _, done, _ in reports] == sorted(done for _, done, _ in reports)
    assert reports[-1] == ("comparing", 6, 6)
    assert all((tmp_path / "parts" / name).stat().st_mtime_ns == when for name, when in complete.items())
    assert files_of(tmp_path) == files_of(whole[0])


def by_length(texts):
    """Probabilities of the three classes by the text's characters."""
    sums = np.array([sum(map(ord, text if isinstance(text, str) else "".join(text))) % 97 for text in texts])
    return np.stack([sums, 97 - sums, np.full(len(sums), 3)], 1) / 100


def test_a_function_that_is_new_after_a_stop_ends_with_the_same_bytes(tmp_path):
    """Its draws are the text's own: those of a function that has read other texts before."""

    def question():
        sampled = [("lime", {"n_samples": 8}), ("chance", {"n_draws": 2})]
        model = from_function(by_length, LABELS)
        return comparison_of(model, some(), sampled, METRICS[1:], target=Target(), seed=0, resamples=20)

    run(tmp_path / "whole", question=question())
    with pytest.raises(Stop):
        comparing.compare_in(ComparisonFolder(tmp_path / "stopped", question()), stop_at(3))
    run(tmp_path / "stopped", question=question())
    assert files_of(tmp_path / "stopped") == files_of(tmp_path / "whole")


def test_a_finished_comparison_is_loaded_and_nothing_is_written(whole):
    folder, _ = whole
    before = files_of(folder)
    assert run(folder).count == 0
    assert files_of(folder) == before


@pytest.mark.parametrize("missing", ("report.html", "table.json", "parts/0001.parquet", "parts/0002.json"))
def test_what_is_missing_from_a_finished_comparison_is_computed_again(whole, tmp_path, missing):
    folder, _ = whole
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    (tmp_path / missing).unlink()
    run(tmp_path)
    assert files_of(tmp_path) == files_of(folder)


def copy_without_manifest(folder, path):
    """As an interrupted comparison is, or one of an earlier version: no manifest says which files are damaged."""
    shutil.copytree(folder, path, dirs_exist_ok=True, ignore=shutil.ignore_patterns(MANIFEST))


def forged(content, own):
    """Other values under the seal of these, or the explanations of another part."""
    if own.suffix == ".parquet":
        return (own.parent / "0002.parquet").read_bytes()
    written = json.loads(content)
    values = written["answers"][0]["columns"][0][0] if "answers" in written else written["cells"][0]["value"]
    values[0 if "answers" in written else "mean"] = 0.5
    return json.dumps(written, ensure_ascii=False, indent=None if "answers" in written else 1).encode()


def flipped(content, place):
    return content[:place] + bytes([content[place] ^ 4]) + content[place + 1 :]


HARMS = {
    "truncated": lambda content, own: content[:-1],
    "empty": lambda content, own: b"",
    "flipped": lambda content, own: flipped(content, len(content) // 2),
    "forged": forged,
    "of another part": lambda content, own: own.with_stem("0002").read_bytes() if own.stem.isdecimal() else content,
}


@pytest.mark.parametrize("is_ended", (True, False))
@pytest.mark.parametrize("harm", HARMS)
def test_a_damaged_part_is_named_and_computed_again(whole, tmp_path, harm, is_ended):
    copy_without_manifest(whole[0], tmp_path)
    if not is_ended:
        (tmp_path / "table.json").unlink()
    for name in ("parts/0000.json", "parts/0001.parquet", *(["table.json"] if is_ended else [])):
        path = tmp_path / name
        path.write_bytes(HARMS[harm](path.read_bytes(), path))
    with pytest.warns(FolderMended) as notices:
        run(tmp_path)
    table = "table.json, " if is_ended and harm != "of another part" else ""
    (notice,) = [str(each.message) for each in notices if each.category is FolderMended]
    assert notice.endswith(f"where it was missing or changed: {table}parts/0000.json, parts/0001.json.")
    assert files_of(tmp_path) == files_of(whole[0])


def test_a_number_that_is_written_otherwise_is_not_what_was_written(whole, tmp_path):
    """The seal is of values: its file is compared with them, too, or the folder had other bytes."""
    copy_without_manifest(whole[0], tmp_path)
    path = tmp_path / "parts" / "0000.json"
    path.write_bytes(path.read_bytes().replace(b'"rows": ', b'"rows":  '))
    with pytest.warns(FolderMended, match=r"parts/0000\.json"):
        run(tmp_path)
    assert files_of(tmp_path) == files_of(whole[0])


@pytest.mark.parametrize("harm", ("truncated", "empty", "flipped"))
def test_damaged_report_and_values_are_named_and_written_again(whole, tmp_path, harm):
    copy_without_manifest(whole[0], tmp_path)
    for name in ("report.html", "values.parquet"):
        path = tmp_path / name
        path.write_bytes(HARMS[harm](path.read_bytes(), path))
    with pytest.warns(FolderMended, match=r"changed: report\.html, values\.parquet\."):
        run(tmp_path)
    assert files_of(tmp_path) == files_of(whole[0])


def test_another_comparisons_part_and_table_are_computed_again(whole, tmp_path):
    other = replace(compared(), resamples=21)
    run(tmp_path / "other", question=other)
    copy_without_manifest(whole[0], tmp_path / "one")
    for name in ("table.json", "parts/0000.json"):
        shutil.copy(tmp_path / "other" / name, tmp_path / "one" / name)
    with pytest.warns(FolderMended, match=r"changed: table\.json, parts/0000\.json\."):
        run(tmp_path / "one")
    assert files_of(tmp_path / "one") == files_of(whole[0])


def test_values_have_checksums(whole):
    content = (whole[0] / "values.parquet").read_bytes()
    read_otherwise = 0
    for place in range(10, len(content) - 4, len(content) // 60):
        with contextlib.suppress(pa.ArrowException, OSError):
            table = pq.read_table(pa.BufferReader(flipped(content, place)), page_checksum_verification=True)
            read_otherwise += not table.equals(pq.read_table(whole[0] / "values.parquet"))
    assert not read_otherwise


def without_seals(folder):
    """As the first versions wrote it."""
    for path in [folder / "table.json", *folder.glob("parts/*.json")]:
        if path.exists():
            sealed = json.loads(path.read_text())
            del sealed["seal"]
            path.write_text(json.dumps(sealed))


@pytest.mark.parametrize("is_ended", (True, False))
def test_a_comparison_of_the_first_versions_is_computed_again(whole, tmp_path, is_ended):
    """Nothing says which comparison its files are of, or that they are whole."""
    copy_without_manifest(whole[0], tmp_path)
    without_seals(tmp_path)
    if not is_ended:
        (tmp_path / "table.json").unlink()
    with pytest.warns(FolderMended, match=r"parts/0000\.json, parts/0001\.json, parts/0002\.json"):
        run(tmp_path)
    assert files_of(tmp_path) == files_of(whole[0])
    assert run(tmp_path).count == 0


OTHERWISE = {
    "examples: there 6 with digest": {"texts": examples()},
    "methods: there gradient, chance(n_draws=2), here gradient, chance": {"methods": ["gradient"]},
    "metrics: there hiding, comprehensiveness, token_f1, here hiding": {"calls": ["hiding"]},
    "target: there logit of the predicted class, here logit of the gold class": {"target": "gold"},
    "seed: there 0, here 1": {"seed": 1},
    "resamples: there 20, here 30": {"resamples": 30},
}


@pytest.mark.parametrize("difference", OTHERWISE)
def test_another_question_is_refused_with_the_difference(whole, difference):
    folder, _ = whole
    before = files_of(folder)
    with pytest.raises(BadFile, match="another comparison") as raised:
        run(folder, question=compared(**OTHERWISE[difference]))
    assert f"({difference}" in str(raised.value)
    assert files_of(folder) == before


@pytest.mark.parametrize("name", ("version", "model", "examples in a part"))
def test_another_version_model_or_size_of_parts_is_refused(whole, tmp_path, name):
    question = json.loads((whole[0] / "question.json").read_text())
    (tmp_path / "question.json").write_text(json.dumps(question | {name: "other"}))
    with pytest.raises(BadFile, match=f"{name}: there other, here"):
        run(tmp_path)


def test_values_with_equal_scores_in_reading_order_are_not_mixed_with_others(whole, tmp_path):
    """An unfinished folder of before the rule, and so of before the manifests."""
    shutil.copytree(whole[0], tmp_path, dirs_exist_ok=True)
    (tmp_path / "table.json").unlink()
    (tmp_path / MANIFEST).unlink()
    question = json.loads((tmp_path / "question.json").read_text())
    del question["equal scores"]
    (tmp_path / "question.json").write_text(json.dumps(question))
    with pytest.raises(BadFile, match="equal scores: there none named, here mean over orders"):
        run(tmp_path)


def test_other_settings_of_the_same_method_are_named(whole, tmp_path):
    question = json.loads((whole[0] / "question.json").read_text())
    question["methods"]["gradient"]["norm"] = "other"
    (tmp_path / "question.json").write_text(json.dumps(question))
    with pytest.raises(BadFile, match=r"\(other settings of methods\)"):
        run(tmp_path)


def test_a_folder_with_other_files_is_left_alone(tmp_path):
    (tmp_path / "table.json").write_text("precious")
    with pytest.raises(BadFile, match=r"other files \(table.json\)"):
        run(tmp_path)
    assert files_of(tmp_path) == {"table.json": b"precious"}


def test_a_place_that_is_a_file_or_below_one_is_refused_before_the_work(tmp_path):
    (tmp_path / "file").write_text("precious")
    for place in (tmp_path / "file", tmp_path / "file" / "folder"):
        with pytest.raises(BadFile, match="is a file, not a folder"):
            run(place)
    assert files_of(tmp_path) == {"file": b"precious"}


@pytest.mark.parametrize("broken", ("", "{}", "[]", '{"form": "pellucid-judged-1"}'))
def test_a_broken_part_is_named_and_computed_again(whole, tmp_path, broken):
    folder = ComparisonFolder(tmp_path, compared())
    with pytest.raises(Stop):
        comparing.compare_in(folder, stop_at(3))
    (tmp_path / "parts" / "0000.json").write_text(broken)
    with pytest.warns(FolderMended, match=r"changed: parts/0000\.json\."):
        run(tmp_path)
    assert files_of(tmp_path) == files_of(whole[0])


@pytest.mark.parametrize("broken", ("", "[]"))
def test_a_broken_question_is_named(tmp_path, broken):
    (tmp_path / "question.json").write_text(broken)
    with pytest.raises(BadFile, match=r"question.json does not describe a comparison"):
        run(tmp_path)


def test_values_are_read_back_to_the_last_bit(tmp_path):
    draw = np.random.default_rng(0)
    values = draw.normal(size=(3, 5, 2)) * 10.0 ** draw.integers(-300, 300, size=(3, 5, 2))
    values[1, 2, 0], values[2, 4] = np.nan, [-0.0, 5e-324]
    curve = draw.random((5, 4))
    curve[0] = np.nan
    part = JudgedPart(
        {
            ("a", "m"): MetricValues(values, "f1"),
            ("b", "m(é=1)"): MetricValues(values[..., :1], "mean", curve, np.linspace(0, 1, 4)),
        },
        3,
        2**40,
    )
    part.save(tmp_path / "part.json")
    back = JudgedPart.read(tmp_path / "part.json")
    text = (tmp_path / "part.json").read_text()
    assert "NaN" not in text and "null" in text
    assert (back.rows, back.tokens, list(back.values)) == (3, 2**40, list(part.values))
    for pair, of_pair in part.values.items():
        for name in ("columns", "curve", "grid"):
            read_back, written = getattr(back.values[pair], name), getattr(of_pair, name)
            assert (read_back is None and written is None) or read_back.tobytes() == written.tobytes()
        assert back.values[pair].combine == of_pair.combine


def test_labels_are_looked_at_before_any_work(tmp_path):
    texts = [*some()[:-1], replace(some()[-1], label="joy")]
    with pytest.raises(BadInput, match=r"1 examples \(first: .*reference='prediction'"):
        compared(texts)
    with pytest.raises(LookupError, match="joy"):
        compared(texts, calls=["comprehensiveness"], target="gold")
