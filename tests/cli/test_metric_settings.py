"""`pellucid compare --metric-set`: settings of metrics, and bad ones refused before any work."""

import json
import re

import pytest

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.base.kinds import metrics
from pellucid.comparison.comparison_of import check_metrics
from tests.shared.tiny import LABELS, save_tiny

TEXTS = [("A good film.", "positive"), ("Dull.", "negative")]


def function(calls):
    def answer(texts):
        calls.extend(texts)
        return [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]

    return pellucid.from_function(answer, ["negative", "positive"])


@pytest.mark.parametrize(
    ("metric", "message"),
    [
        (("reason_recall_at_k", {"k": 0}), "reason_recall_at_k: k=0 is too small"),
        (("deletion", {"most": 0}), "deletion: most=0 is too small"),
        (("comprehensiveness", {"fractions": ()}), "comprehensiveness: fractions is empty"),
        (("comprehensiveness", {"operator": "drop"}), "comprehensiveness: operator='drop' is not possible"),
        (("hiding", {"unit": "letter"}), "hiding: unit='letter' is not possible"),
        (("iou_f1", {"threshold": 3.0}), "iou_f1: threshold"),
        (("soft_sufficiency", {"n_draws": 0}), "soft_sufficiency: n_draws=0 is too small"),
    ],
)
def test_bad_settings_are_refused_before_any_pass_of_the_model(metric, message):
    calls = []
    with pytest.raises(BadSetting, match=message):
        pellucid.compare(function(calls), TEXTS, ["occlusion"], [metric])
    assert not calls


@pytest.mark.parametrize("name", metrics.names())
def test_every_metric_can_be_tried_with_its_usual_settings(name):
    """The text that settings are tried on refuses nothing that is allowed."""
    for setting, value in metrics.get(name).defaults.items():
        check_metrics(metrics.calls([(name, {setting: value})]))


def test_good_settings_stand_in_the_table():
    table = pellucid.compare(function([]), TEXTS, ["occlusion"], [("deletion", {"most": 2})])
    assert table.metrics == ("deletion(most=2)",)


@pytest.fixture(scope="module")
def words(tmp_path_factory):
    """A comparison with two metrics of a tiny model, without settings."""
    folder = tmp_path_factory.mktemp("settings")
    save_tiny(folder / "model", labels=LABELS)
    rows = [
        json.dumps({"text": text, "label": label})
        for text, label in zip(("A fine film.", "Dull and long.", "Warm."), LABELS, strict=True)
    ]
    (folder / "texts.jsonl").write_text("\n".join(rows), encoding="utf-8")
    methods = ("--methods", "gradient", "--metrics", "deletion,sufficiency")
    return ("compare", folder / "model", folder / "texts.jsonl", *methods)


def test_the_command_line_sets_a_metric(run, words):
    status, out, err = run(*words, "--metric-set", "deletion.most=1", "--json")
    assert status == 0, err
    assert {cell["metric"] for cell in json.loads(out)["cells"]} == {"deletion(most=1)", "sufficiency"}


@pytest.mark.parametrize(
    ("pair", "message"),
    [
        ("deletion.most=0", "deletion: most=0 is too small; give 1 or more."),
        ("most=1", "--metric-set most could be of several metrics; say of which: --metric-set METRIC.most=…"),
        ("hiding.steps=4", "--metric-set hiding.steps: hiding is not among the metrics to run"),
        ("deletion.mots=1", "No setting of deletion is called 'mots'. Did you mean 'most'?"),
    ],
)
def test_the_command_line_refuses_with_status_2(run, words, pair, message):
    status, out, err = run(*words, "--metric-set", pair)
    assert (status, out) == (2, "") and message in err and len(err.strip().splitlines()) == 1


def test_settings_need_the_names_of_metrics(run, words):
    status, _, err = run(*words[:5], "--metric-set", "deletion.most=1")
    assert status == 2 and "name it too: --metrics" in err


def test_the_command_gives_each_method_the_same_time(run, words, tmp_path):
    words = [*words[:4], "gradient,lime", "--metrics", "sufficiency", "--json"]
    status, out, err = run(*words, "--equal-time", 0.05)
    assert status == 0, err
    assert any(re.fullmatch(r"lime\(n_samples=\d+\)", cell["method"]) for cell in json.loads(out)["cells"]), out
    status, _, err = run(*words, "--equal-time", 0.05, "--out", tmp_path / "out")
    assert status == 2 and "leave --equal-time away" in err and not (tmp_path / "out").exists()
