"""Explanations of what a model writes are judged by hiding words of what it has read."""

import json
import sys

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.cli import main
from pellucid.run.batch import edit
from pellucid.text.example import as_examples
from tests.shared.tiny_writing import save_tiny_writing, tiny_writing

PAIRS = [
    ("A good film about a dog.", "A fine story, well told."),
    ("Dull.", "Not a good one at all."),
    ("The staff were kind", "to us all day."),
]
SETTINGS = {"fractions": (0.5,)}
METRICS = [("comprehensiveness", SETTINGS), ("sufficiency", SETTINGS)]


@pytest.fixture(scope="module")
def model():
    return tiny_writing("bart")


def per_piece(model, row):
    """The geometric mean of the probabilities of the pieces that are written."""
    count = sum(id >= 0 for id in row.written)
    return float((model.trace([row]).logits[0, 0] / count).exp().detach())


def test_values_are_those_of_rows_without_the_best_words_of_the_source(model):
    table = pellucid.compare(model, PAIRS, ["occlusion"], METRICS, resamples=10, progress=False)
    assert table.about["target"] == "log-probability of the text"
    falls = {"comprehensiveness": [], "sufficiency": []}
    results = pellucid.explain(model, PAIRS, "occlusion", target=pellucid.Word("text"), progress=False)
    batch = model.encode(as_examples(PAIRS))
    for number, one in enumerate(results):
        words = [unit for unit in one.units.content if one.units.segment[unit] == 0]
        scores = one.scores[words]
        order = sorted(range(len(words)), key=lambda word, scores=scores: -scores[word])
        best = order[: int(np.ceil(len(order) / 2))]
        row, pieces = batch.rows[number], batch.pieces_of(number, "word")
        for metric, removed in (("comprehensiveness", best), ("sufficiency", set(order) - set(best))):
            cut = edit(row, [piece for word in removed for piece in pieces[word]], "absent", batch.special)
            falls[metric].append(per_piece(model, row) - per_piece(model, cut))
    for metric, values in falls.items():
        cell = table.cell("occlusion", f"{metric}(fractions=(0.5,))")
        assert cell.value.mean == pytest.approx(np.mean(values), abs=1e-6)


def test_the_command_judges_them_too(tmp_path, capsys, monkeypatch):
    folder, data = save_tiny_writing(tmp_path / "model"), tmp_path / "pairs.jsonl"
    data.write_text(
        "".join(json.dumps(dict(zip(("premise", "hypothesis"), pair, strict=True))) + "\n" for pair in PAIRS),
        encoding="utf-8",
    )
    words = ["compare", str(folder), str(data), "--methods", "occlusion", "--resamples", "10", "--json"]
    monkeypatch.setattr(sys, "argv", ["pellucid", *words])
    with pytest.raises(SystemExit):
        main()
    table = json.loads(capsys.readouterr().out)
    assert {(cell["method"], cell["metric"]) for cell in table["cells"]} == {
        (method, metric) for method in ("occlusion", "chance") for metric in ("comprehensiveness", "sufficiency")
    }


BAD = (
    (
        {"metrics": ["decision_flip"]},
        ModelCannot,
        "judges explanations of classes, and tiny bart writes texts",
    ),
    ({"target": "story"}, BadSetting, "metrics judge explanations of the whole text; leave target away"),
    ({"target": pellucid.Word("story")}, BadSetting, "is not possible: of tiny bart, which writes texts"),
    ({"checks": ["all"]}, ModelCannot, "writes texts, and this works with classifiers alone"),
    ({"methods": ["rationale"]}, ModelCannot, "does not choose the words"),
)


@pytest.mark.parametrize("settings, error, message", BAD)
def test_what_cannot_be_judged_is_refused_in_one_sentence(model, settings, error, message):
    with pytest.raises(error, match=message):
        pellucid.compare(model, PAIRS, **{"methods": ["occlusion"]} | settings, progress=False)
