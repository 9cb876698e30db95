"""Every file in examples/ runs in a process of its own, on a small model from disk."""

import shutil
from pathlib import Path

import pytest

import pellucid
from pellucid.data.load import classes_of
from pellucid.models.composed.composed import save_composed
from pellucid.models.composed.networks import Plan
from tests.shared import warm_python
from tests.shared.tiny import save_tiny, tiny_composed

ROOT = Path(__file__).parents[1]
EXAMPLES = {path.stem: path for path in sorted((ROOT / "examples").glob("*.py"))}

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """A classifier's folder whose classes are those of the pocket corpus."""
    names = {0: "negative", 1: "neutral", 2: "positive"}
    return str(save_tiny(tmp_path_factory.mktemp("classifier"), id2label=names))


@pytest.fixture
def run(tmp_path):
    """Run an example in an empty folder, without a network; returns what it printed."""

    def example(name, *words):
        done = warm_python.run(EXAMPLES[name], *words, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    return example


def test_explain_a_classifier(run, saved, tmp_path):
    out = run("explain_a_classifier", saved, "--out", "page.html")
    assert "gripping" in out
    assert "café" in (tmp_path / "page.html").read_text(encoding="utf-8")
    results = pellucid.read(tmp_path / "page.parquet")
    assert [len(result.example.segments) for result in results] == [1, 2]


def test_compare_methods(run, saved, tmp_path):
    out = run("compare_methods", saved, "--limit", 4, "--out", "page.html")
    assert "occlusion: " in out
    assert "comprehensiveness" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_train_a_self_explaining_model(run, saved, tmp_path):
    words = ("--encoder", saved, "--epochs", 1, "--out", "model")
    out = run("train_a_self_explaining_model", *words)
    assert "Accuracy on test: 0." in out
    assert "span_weights" in pellucid.load(tmp_path / "model").capabilities
    assert run("train_a_self_explaining_model", *words) == out  # a finished run is loaded and says the same


def test_add_a_method(run, saved):
    assert "steepest dimension" in run("add_a_method", saved)


def test_explain_a_bilstm(run):
    check_network(run("explain_a_bilstm"))


def test_explain_a_cnn(run):
    check_network(run("explain_a_cnn"))


def check_network(out):
    assert "accuracy on test: 1.000" in out
    assert "Strongest: “blicket”" in out or "Strongest: “wug”" in out


def test_explain_any_function(run):
    out = run("explain_any_function")
    assert "Strongest: “lovely” +0.60, “dull” −0.15" in out
    assert (
        "Methods that work with it: chance, gaussian_process_shapley, kernel_shap, leave_one_out, lime, "
        "linear_coefficients, occlusion" in out
    )


def test_tour(run, tmp_path):
    departments = classes_of("helpdesk", [])
    classifier = tiny_composed("span", departments)
    (tmp_path / "runs").mkdir()
    plan = Plan("tiny", "span", {}, departments)
    save_composed(classifier.network, classifier.tokenizer, plan, tmp_path / "runs" / "helpdesk")
    (tmp_path / "examples").mkdir()
    shutil.copytree(ROOT / "examples" / "data", tmp_path / "examples" / "data")
    out = run("tour")
    assert "300 texts" in out
    assert {"requests.parquet", "requests.html", "words.pdf", "requests-explained.csv"} <= {
        path.name for path in tmp_path.iterdir()
    }
    assert (tmp_path / "words.pdf").read_bytes().startswith(b"%PDF")


def test_every_example_is_short_and_is_run_here():
    assert {f"test_{name}" for name in EXAMPLES} <= set(globals())
    lengths = {name: len(path.read_text(encoding="utf-8").splitlines()) for name, path in EXAMPLES.items()}
    assert max(lengths.values()) < 70, lengths
