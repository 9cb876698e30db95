"""A multi-label classifier is trained from labels with commas between them, and explained class by class."""

import json

import pellucid


def test_a_multi_label_model_is_trained_and_explained(tmp_path, encoder):
    rows = [
        ("a fine film", "good"),
        ("a long film", "long"),
        ("a fine, long film", "good, long"),
        ("dull", "bad"),
    ] * 12
    lines = [json.dumps({"id": str(n), "text": f"{text} {n}", "label": label}) for n, (text, label) in enumerate(rows)]
    (tmp_path / "data.jsonl").write_text("\n".join(lines), encoding="utf-8")
    model = pellucid.train(
        tmp_path / "data.jsonl", encoder=encoder, out=tmp_path / "model", problem="multi_label", epochs=1
    )
    assert (model.labels, model.problem) == (("bad", "good", "long"), "multi_label")
    (explanation,) = pellucid.explain(model, "a fine film", "occlusion", target="long", output="probability")
    assert explanation.target.label == "long"
    assert abs(explanation.target.value - explanation.prediction.probabilities[2]) < 1e-6
