"""The analysis of attention: any weights, windows and pairs alike, what it refuses, its verdict, and a folder that goes
on.
"""

import json

import pytest
import torch

import pellucid
from pellucid.attention import folder as attention_folder
from pellucid.attention import question as attention_question
from pellucid.attention.door import weigh
from pellucid.attention.folder import AttentionFolder
from pellucid.attention.lines import verdict_of
from pellucid.attention.record import AttentionAnalysis
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot, UnknownName
from pellucid.base.kinds import attention_tests
from pellucid.base.manifest import MANIFEST
from pellucid.results.table import Interval
from pellucid.text.example import Example, as_examples
from tests.shared.moments import Moments, files_of, killed
from tests.shared.tiny import LABELS, tiny_composed

TEXTS = ("Fine", "A gripping, lovely film.", "Dull and long, and in the end not worth it.", "so so, but fine")
EXAMPLES = [Example((text,), label=LABELS[n % 3], id=f"text-{n}") for n, text in enumerate(TEXTS)]
FAST = [
    "uniform",
    "permuted",
    "heaviest_erased",
    "median_change",
    "unit_probability",
    "conicity",
    "effective_units",
]
LONG = " ".join(f"{word} film and {word} again" for word in ("lovely", "dull", "gripping", "worth", "fine") * 3)


def analysed(model, data=EXAMPLES, **settings):
    return pellucid.attention_analysis(model, data, progress=False, **{"tests": FAST, **settings})


@pytest.fixture(autouse=True)
def parts_of_one(monkeypatch):
    monkeypatch.setattr(attention_question, "PART", 1)
    monkeypatch.setattr(attention_folder, "PART", 1)


@pytest.fixture(scope="module")
def model():
    return tiny_composed("additive")


@pytest.mark.parametrize("pooler", ["additive", "dot", "span"])
def test_the_weighted_unit_logits_are_the_answer_of_texts_windows_and_pairs(pooler):
    model = tiny_composed(pooler, positions=32)
    data = [TEXTS[1], LONG, ("A lovely film.", "It was dull."), ("A lovely film.", LONG)]
    examples = as_examples(data)
    assert [bool(row.windows) for row in model.encode(examples).rows] == [False, True, False, True]
    for text, answer in zip(weigh(model, examples), pellucid.predict(model, data), strict=True):
        logits = text.logits(text.weights[None])[0]
        assert logits.tolist() == pytest.approx(list(answer.logits), rel=1e-4, abs=1e-4)
        assert float(text.weights.sum()) == pytest.approx(1, abs=1e-6)
        assert len(text) == len(text.unit_logits) == len(text.states) == len(text.numbers)


@pytest.mark.parametrize("pooler", ["additive", "span"])
def test_a_joined_document_has_weights_of_its_own(pooler):
    model = tiny_composed(pooler, positions=32, max_length=200)
    [text] = weigh(model, as_examples([LONG]))
    assert not model.encode(as_examples([LONG])).rows[0].windows
    assert text.logits(text.weights[None])[0].tolist() == pytest.approx(
        model.plain_logits(as_examples([LONG])[0]).flatten().tolist(), rel=1e-4, abs=1e-4
    )


@pytest.mark.parametrize("pooler", ["additive", "span"])
def test_every_test_runs_for_units_and_spans(pooler):
    analysis = pellucid.attention_analysis(tiny_composed(pooler), EXAMPLES, progress=False)
    first = analysis.model()
    assert first.too_short == (pooler == "additive") + (pooler == "span") and first.n_texts == 3
    assert {"heaviest_decides", "tau_gradient", "tau_leave_one_out", *FAST} <= {line.test for line in first.lines}
    assert first.weighs == {"additive": "words", "span": "spans"}[pooler]
    for line in first.lines:
        if line.n:
            assert line.lowest <= line.value.mean <= line.highest
    assert first.plots[1].words[:2] == ("A", "gripping") and len(first.plots) == 4


def test_a_text_without_a_span_of_a_single_word_has_no_plot(monkeypatch, tmp_path):
    """As of a model that answers by two spans: both may be longer."""
    whole = attention_question.plotted

    def without_units(*texts):
        return {**whole(*texts), "words": [], "weights": [], "probabilities": []}

    monkeypatch.setattr(attention_question, "plotted", without_units)
    analysis = pellucid.attention_analysis(tiny_composed("span"), EXAMPLES, progress=False)
    assert analysis.model().plots == () and pellucid.report(analysis, path=tmp_path / "page.html").exists()


def test_a_text_alone_has_the_numbers_that_it_has_beside_others():
    together = weigh(tiny_composed("span"), as_examples(TEXTS))
    for number, text in enumerate(TEXTS):
        [alone] = weigh(tiny_composed("span"), as_examples([text]))
        torch.testing.assert_close(alone.weights, together[number].weights, rtol=0, atol=1e-6)
        torch.testing.assert_close(alone.unit_logits, together[number].unit_logits, rtol=1e-5, atol=1e-5)


def test_other_models_stand_beside_it(model):
    analysis = analysed(model, against={"spans": tiny_composed("span")})
    assert analysis.names == ("tiny additive", "spans")
    twice = analysed(model, against=[tiny_composed("additive")], tests=["uniform"])
    assert twice.names == ("tiny additive", "tiny additive (2)")
    assert twice.models[0].lines == twice.models[1].lines


def test_weights_of_the_user_take_the_place_of_the_models(model):
    own = {example.id: text.weights.tolist() for example, text in zip(EXAMPLES, weigh(model, EXAMPLES), strict=True)}
    same = analysed(model, weights=own, tests=["user_weights"]).model().line("user_weights")
    assert same.value.mean == 0 and same.n == 3
    equal = [[1 / len(weights)] * len(weights) for weights in own.values()]
    lines = analysed(model, weights=equal, tests=["user_weights", "uniform"]).model()
    assert lines.line("user_weights").value == lines.line("uniform").value
    some = analysed(model, weights={"text-1": own["text-1"]}, tests=["user_weights"]).model().line("user_weights")
    assert some.n == 1 and some.left_out == 2


def test_weights_of_the_user_for_spans_lie_on_single_words():
    model = tiny_composed("span")
    analysis = analysed(model, EXAMPLES[1:2], weights=[[0.5, 0.5, 0, 0, 0, 0]], tests=["user_weights"])
    assert analysis.model().line("user_weights").n == 1


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"weights": {"text-1": [0.5, -0.5, 1, 0, 0, 0]}}, BadInput, "'text-1' has a negative weight, -0.5"),
        (
            {"weights": {"text-1": [0.5, 0.4, 0, 0, 0, 0]}},
            BadInput,
            "'text-1' sum to 0.9; give weights whose sum is 1",
        ),
        ({"weights": {"text-1": [0.5, 0.5]}}, BadInput, "'text-1' has 6 words, and 2 weights"),
        ({"weights": {"text-1": [float("nan"), 1]}}, BadInput, "'text-1' are not all numbers"),
        ({"weights": {"another": [1.0]}}, BadInput, "none of them is among the texts"),
        ({"weights": [[1.0]]}, BadInput, "1 of them for 4 texts"),
        ({"weights": {"text-1": "heavy"}}, BadInput, "no list of numbers"),
        ({"tests": ["user_weights"]}, BadSetting, "user_weights reads weights of yours"),
        ({"tests": []}, BadSetting, "No test is named"),
        ({"tests": ["permutated"]}, UnknownName, "Did you mean 'permuted'"),
        ({"tests": [("permuted", {"n_permutations": 0})]}, BadSetting, "n_permutations=0"),
        ({"data": []}, BadInput, "no text"),
        ({"model": "function"}, ModelCannot, r"no weights .* pooler='additive', 'dot' or 'span' .* with compare"),
        ({"against": "other classes"}, BadInput, "of the same classes"),
        ({"model": "several"}, ModelCannot, "several labels"),
        ({"seed": -1}, BadSetting, "seed"),
    ],
)
def test_what_it_refuses(settings, error, message, model):
    models = {
        "function": lambda: pellucid.from_function(lambda texts: [[0.2, 0.3, 0.5]] * len(texts), labels=LABELS),
        "several": lambda: tiny_composed("dot", problem="multi_label"),
    }
    subject = models[settings.pop("model")]() if "model" in settings else model
    if "against" in settings:
        settings["against"] = [tiny_composed("dot", labels=("a", "b", "c"))]
    with pytest.raises(error, match=message) as caught:
        analysed(
            subject,
            **{
                **settings,
                "tests": settings.get("tests", ["uniform"] if "weights" not in settings else None),
            },
        )
    assert "\n" not in str(caught.value)


def interval(mean, half=0.01):
    return Interval(mean, mean - half, mean + half)


@pytest.mark.parametrize(
    "change, decides, answer",
    [
        (interval(0.3), interval(0.8), "may"),
        (interval(0.01), interval(0.8), "undecided"),
        (interval(0.01), interval(0.2), "may not"),
        (interval(0.01), interval(0.5, 0.1), "may not"),
        (interval(0.3), interval(0.0), "may not"),
        (interval(0.3), interval(0.5, 0.1), "undecided"),
        (interval(0.07), interval(0.8), "undecided"),
    ],
)
def test_the_verdict_needs_both_kinds_of_evidence(change, decides, answer):
    outcomes = {"median_change": (change, 200), "heaviest_decides": (decides, 150)}
    verdict = verdict_of(200, outcomes)
    assert verdict.answer == answer and verdict.reason and len(verdict.evidence) == 2
    assert verdict_of(99, outcomes).answer == "undecided" and "too few" in verdict_of(99, outcomes).reason


def test_without_its_tests_there_is_no_verdict():
    one = {"median_change": (interval(0.3), 200)}
    assert verdict_of(200, one).answer == "undecided"
    assert verdict_of(200, {**one, "heaviest_decides": (interval(0.9), 20)}).answer == "undecided"
    assert verdict_of(200, {}).answer == "undecided"


def test_it_is_saved_and_read(model, tmp_path):
    analysis = analysed(model)
    analysis.save(tmp_path / "a.json")
    assert AttentionAnalysis.read(tmp_path / "a.json") == analysis
    record = json.loads((tmp_path / "a.json").read_text())
    record["models"][0]["verdict"]["answer"] = "surely"
    (tmp_path / "b.json").write_text(json.dumps(record))
    (tmp_path / "c.json").write_text('{"form": "pellucid-attention-1"}')
    for name in ("b.json", "c.json"):
        with pytest.raises(BadFile, match="does not hold an attention analysis"):
            AttentionAnalysis.read(tmp_path / name)


def test_a_folder_gives_what_memory_gives_and_works_once(model, tmp_path):
    stored = analysed(model, folder=tmp_path / "out")
    assert stored == analysed(model)
    names = {"question.json", "analysis.json", MANIFEST, *(f"parts/00-000{n}.json" for n in range(4))}
    assert set(files_of(tmp_path / "out")) == names
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "parts").iterdir()}
    assert analysed(model, folder=tmp_path / "out") == stored
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "parts").iterdir()} == before


def test_a_folder_with_something_else_is_refused(model, tmp_path):
    analysed(model, folder=tmp_path / "out")
    with pytest.raises(BadFile, match=r"another attention analysis .*texts"):
        analysed(model, EXAMPLES[:2], folder=tmp_path / "out")
    with pytest.raises(BadFile, match=r"another attention analysis .*attention of"):
        analysed(model, seed=1, folder=tmp_path / "out")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(BadFile, match=r"other files \(notes.txt\)"):
        analysed(model, folder=tmp_path / "other")
    (tmp_path / "out" / MANIFEST).unlink()  # as in an interrupted analysis, or one of an earlier version
    part = tmp_path / "out" / "parts" / "00-0001.json"
    part.write_text(part.read_text().replace("text-1", "text-9"))
    with pytest.raises(BadFile, match="changed after it was written"):
        analysed(model, folder=tmp_path / "out")
    part.write_text("{}")
    with pytest.raises(BadFile, match="damaged"):
        analysed(model, folder=tmp_path / "out")


def run(path, fatal=-1):
    with Moments(fatal) as moments:
        folder = AttentionFolder(path, {"one": question()})
        folder.tested(moments.progress)
    return moments


def question():
    calls = tuple(attention_tests.calls(["uniform", "median_change"]))
    return attention_question.AttentionQuestion(tiny_composed("dot"), as_examples(TEXTS[:3]), calls, weigh)


@pytest.mark.whole
def test_work_that_is_killed_at_any_moment_ends_with_the_same_bytes(tmp_path):
    moments = run(tmp_path / "whole").count
    for fatal in range(1, moments, 5):
        killed(run, tmp_path / f"killed-{fatal}", fatal)
        run(tmp_path / f"killed-{fatal}")
        assert files_of(tmp_path / f"killed-{fatal}") == files_of(tmp_path / "whole")
