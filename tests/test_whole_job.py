"""The main job end to end: the README's ten lines, and the demo with the real encoder."""

import pytest

import pellucid
from pellucid import demo
from tests.shared.tiny import save_tiny
from tests.shared.tiny_training import save_encoder


@pytest.fixture
def encoder(tmp_path):
    """A tiny encoder on disk."""
    return save_encoder(tmp_path / "encoder")


@pytest.mark.whole
def test_the_ten_lines_of_the_readme(tmp_path, encoder):
    model = pellucid.load(save_tiny(tmp_path / "classifier"), device="cpu", dtype="float32")
    results = pellucid.explain(
        model, ["A gripping, lovely film.", ("premise", "hypothesis")], method="integrated_gradients"
    )
    assert results[0]._repr_html_().startswith("<div") and "gripping" in str(results[0])
    assert results[0].scores.shape == (len(results[0].units),)
    assert len(results[0].words().top(3)) == 3 and "completeness_gap" in results[0].diagnostics
    pellucid.save(results, tmp_path / "run.parquet")
    assert pellucid.read(tmp_path / "run.parquet") == results

    model = pellucid.train("pocket", encoder=encoder, pooler="span", seed=0, out=tmp_path / "pocket", epochs=1)
    examples = pellucid.examples("pocket", split="test")[:6]
    table = pellucid.compare(model, examples, methods=["span_attention", "occlusion"], metrics=["hiding", "auprc"])
    assert table.methods == ("span_attention", "occlusion", "chance")
    path = pellucid.report(results, table, path=tmp_path / "report.html")
    assert path.read_text(encoding="utf-8").count("<section") >= 2


def test_a_model_in_memory_is_explained_as_it_is(bert):
    model = pellucid.load(bert.network, bert.tokenizer)
    assert pellucid.explain(model, "A lovely film.", "gradient")[0].prediction.labels == bert.labels


@pytest.mark.whole
def test_the_demo_trains_explains_judges_and_reports(tmp_path, monkeypatch, capsys):
    everything = {part: pellucid.examples(demo.CORPUS, split=part) for part in ("train", "dev", "test")}
    few = {part: examples[:: len(examples) // 40] for part, examples in everything.items()}
    monkeypatch.setattr(demo, "load_parts", lambda _: few)
    monkeypatch.setattr(demo, "load_examples", lambda _, part: few[part])
    monkeypatch.setattr(demo, "EPOCHS", 1)
    monkeypatch.setattr(demo, "TEXTS", 12)
    path = demo.run_demo(tmp_path)
    page = path.read_text(encoding="utf-8")
    for heading in (
        "What was trained",
        "Right answers",
        "Where the model is wrong",
        "Which method can be believed",
    ):
        assert heading in page
    printed = capsys.readouterr()
    assert "accuracy" in printed.out and str(path) in printed.out
    assert printed.out.index(str(tmp_path / "first.html")) < printed.out.index("accuracy")
    assert "A habit of the data decides" in (tmp_path / "first.html").read_text(encoding="utf-8")
    assert "100 %" in printed.err
    assert pellucid.verify(tmp_path).is_whole
