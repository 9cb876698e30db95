"""The door of the layer analysis: what it refuses, and a folder that an interrupted analysis goes on in."""

import random

import pytest

import pellucid
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot, UnknownName
from pellucid.base.manifest import MANIFEST
from pellucid.layers import question as layer_folder
from pellucid.layers import question as layer_question
from pellucid.layers.question import LayerFolder, LayerQuestion
from pellucid.run.explaining import Request, method_calls
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.shared.layer_samples import TEXTS
from tests.shared.moments import Moments, files_of, killed
from tests.shared.tiny import tiny_classifier


def analysed(models, texts=TEXTS, method="grad_cam", **settings):
    return pellucid.layer_analysis(models, list(texts), method, progress=False, **settings)


@pytest.fixture(autouse=True)
def parts_of_one(monkeypatch):
    monkeypatch.setattr(layer_question, "PART", 1)
    monkeypatch.setattr(layer_folder, "PART", 1)


def questions():
    examples = as_examples(TEXTS[:3])
    return {
        name: [
            LayerQuestion(
                Request(model, method_calls([("grad_cam", {"layer": "all"})], model), Target("predicted"), 0),
                examples,
            )
        ]
        for name, model in (("bert", tiny_classifier("bert")), ("gpt2", tiny_classifier("gpt2")))
    }


def run(path, fatal=-1):
    with Moments(fatal) as moments:
        LayerFolder(path, questions()).explanations(moments.progress)
    return moments


def test_the_scores_are_those_of_explain():
    model = tiny_classifier("bert")
    analysis = analysed(model)
    expected = pellucid.explain(model, list(TEXTS), "grad_cam", layer="all", progress=False)
    for text, one in enumerate(expected):
        other = analysis.models[0].seeds[0][text]
        assert other.rows == one.rows and abs(other.scores - one.scores).max() <= 1e-6
    assert analysis.measure == "" and analysis.row_kind == "layer"


def test_one_layer_is_one_row():
    model = tiny_classifier("bert")
    every, one = analysed(model), analysed(model, layers=1)
    assert one.models[0].rows == ("1",)
    assert abs(one.map(0).scores[0] - every.map(0).scores[1]).max() <= 1e-6


def test_models_of_other_tokenizers_and_trainings():
    several = {"bert": [tiny_classifier("bert")] * 2, "gpt2": tiny_classifier("gpt2")}
    analysis = analysed(several)
    assert analysis.names == ("bert", "gpt2") and len(analysis.models[0].seeds) == 2
    assert analysis.across(0).rows == ("bert", "gpt2")
    twice = analysed([tiny_classifier("bert")] * 2)
    assert twice.names == ("tiny bert", "tiny bert (2)")


def test_equal_texts_count_once():
    analysis = analysed(tiny_classifier("bert"), [*TEXTS, TEXTS[0]])
    assert len(analysis.texts) == len(TEXTS)
    assert analysis.caveats[-1] == "1 text repeated others; equal texts count once."


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"method": "grad_camel"}, UnknownName, "grad_cam"),
        ({"method": "occlusion"}, BadSetting, "no scores a layer. Methods that do: .*grad_cam"),
        ({"layers": 9}, BadSetting, "layers=9 is no layer of .*; give a number from 0 to 3, or all"),
        ({"layers": "middle"}, BadSetting, "middle"),
        ({"target": "nonsense"}, UnknownName, "nonsense"),
        ({"texts": []}, BadInput, "no text"),
        ({"models": []}, BadInput, "no model"),
        ({"models": {"one": []}}, BadInput, "no model"),
    ],
)
def test_what_it_refuses(settings, error, message):
    models = settings.pop("models", None)
    models = tiny_classifier("bert") if models is None else models
    with pytest.raises(error, match=message) as caught:
        analysed(models, **settings)
    assert "\n" not in str(caught.value)


def test_a_model_without_states_of_layers_is_refused():
    function = pellucid.from_function(lambda texts: [[0.1, 0.9] for _ in texts], ["no", "yes"])
    with pytest.raises(ModelCannot):
        analysed(function)


def test_a_folder_gives_what_memory_gives_and_works_once(tmp_path):
    models = [tiny_classifier("bert"), tiny_classifier("gpt2")]
    stored = analysed(models, out=tmp_path / "out")
    assert stored == analysed(models)
    names = set(files_of(tmp_path / "out"))
    assert names == {
        "question.json",
        MANIFEST,
        *(f"parts/0{m}-00-000{n}.parquet" for m in (0, 1) for n in range(len(TEXTS))),
    }
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "parts").iterdir()}
    assert analysed(models, out=tmp_path / "out") == stored
    assert {path: path.stat().st_mtime_ns for path in (tmp_path / "out" / "parts").iterdir()} == before


def test_a_folder_with_something_else_is_refused(tmp_path):
    model = tiny_classifier("bert")
    analysed(model, out=tmp_path / "out")
    with pytest.raises(BadFile, match=r"another layer analysis .*texts"):
        analysed(model, TEXTS[:2], out=tmp_path / "out")
    with pytest.raises(BadFile, match=r"another layer analysis .*models"):
        analysed(tiny_classifier("roberta"), out=tmp_path / "out")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(BadFile, match=r"other files \(notes.txt\)"):
        analysed(model, out=tmp_path / "other")
    (tmp_path / "out" / MANIFEST).unlink()  # as in an interrupted analysis, or one of an earlier version
    parts = tmp_path / "out" / "parts"
    (parts / "00-00-0001.parquet").write_bytes((parts / "00-00-0000.parquet").read_bytes())
    with pytest.raises(BadFile, match="other texts"):
        analysed(model, out=tmp_path / "out")


@pytest.mark.whole
def test_killed_at_any_moment_it_goes_on_and_ends_with_the_same_bytes(tmp_path):
    moments = run(tmp_path / "whole")
    for moment in random.Random(4).sample(range(moments.count), 5):
        folder = tmp_path / str(moment)
        killed(run, folder, moment)
        run(folder)
        assert files_of(folder) == files_of(tmp_path / "whole"), f"killed at moment {moment}"
