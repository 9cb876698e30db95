"""A row of all layers says of itself what the explanation of that layer alone says."""

import numpy as np
import pyarrow.parquet as pq
import pytest

import pellucid
from pellucid.base.errors import BadFile
from pellucid.base.kinds import attributions
from pellucid.explaining.views.terminal_explanation import terminal_text
from pellucid.results.storage import read, save
from pellucid.run.hidden_target import HiddenState
from pellucid.run.target import Target
from pellucid.text.example import Example
from tests.shared.asking import ask, reads_states
from tests.shared.tiny import tiny_classifier, tiny_composed

TEXTS = ("A film, a good film.", "The cat and the dog. A dog it is.")
QUICK = {
    "retained_information": {"n_seeds": 1, "n_steps": 4, "n_probes": 2, "reference": TEXTS},
    "guan_perturbation": {"reference": TEXTS},
}
OF_STATES = [name for name in attributions.names() if reads_states(name)]
OF_LAYERS = ["grad_cam", "decoded_saliency"]


def explained(model, method, layer):
    if method in OF_LAYERS:
        return ask(model, list(TEXTS), (method, {"layer": layer}), target=Target(1))
    settings = QUICK.get(method, {})
    return ask(model, list(TEXTS), (method, settings), target=HiddenState(layer))


@pytest.mark.parametrize("method", [*OF_LAYERS, *OF_STATES])
def test_a_row_knows_of_itself_what_its_layer_alone_knows(bert, method):
    together, alone = explained(bert, method, "all"), explained(bert, method, 2)
    for every, one in zip(together, alone, strict=True):
        if not every.rows:  # such as integrated_gradients of states, which adds layers up
            pytest.skip(f"{method} gives no rows")
        row = every.row("2")
        assert row.of_row == (("layer", "2"),) and not row.rows
        np.testing.assert_allclose(row.scores, one.scores, atol=1e-4)
        assert row.caveats == one.caveats
        assert row.diagnostics == pytest.approx(dict(one.diagnostics), abs=1e-4)


@pytest.mark.parametrize("kind", ("bert", "gpt2", "span"))
def test_a_last_layer_of_which_one_position_is_read_says_so(kind):
    """Else a layer whose words all score 0 looks like a finding. A span layer reads every position."""
    model = tiny_composed("span") if kind == "span" else tiny_classifier(kind)
    last = str(model.n_layers)
    (every,) = ask(model, ["A gripping, lovely film."], ("grad_cam", {"layer": "all"}), target=Target(1))
    sentences = [caveat for caveat in every.caveats if f"layer {last} reads one position of it alone" in caveat]
    assert bool(sentences) == (kind != "span") and len(every.caveats) == len(sentences)
    assert any("every word scores 0" in caveat for caveat in sentences) == (kind == "bert")
    analysis = pellucid.layer_analysis(model, ["A film.", "Dull."], "grad_cam", progress=False)
    assert any("one position of it alone" in caveat for caveat in analysis.caveats) == (kind != "span")


def test_a_terminal_says_which_row_it_shows_and_of_that_row_how_well_it_is_read(bert):
    every = explained(bert, "decoded_saliency", "all")[0]
    for layer in ("0", "3"):
        shown = terminal_text(every.row(layer), colour=False, width=200)
        assert f"Shown: layer {layer}." in shown
        assert f"names {every.row_diagnostics[int(layer)]['recovery']:.0%} of the text's pieces" in shown
    assert "Shown: layer 3 (the last of 4)." in terminal_text(every, colour=False, width=200)


@pytest.mark.parametrize("form", (".json", ".parquet"))
def test_rows_and_what_is_known_of_them_come_back_from_files(bert, tmp_path, form):
    every = explained(bert, "decoded_saliency", "all")
    results = [*every, every[0].row("1")]
    save(results, tmp_path / f"results{form}")
    assert read(tmp_path / f"results{form}") == results


def test_a_file_of_an_earlier_version_is_read(bert, tmp_path):
    path = tmp_path / "results.parquet"
    results = explained(bert, "grad_cam", 2)
    save(results, path)
    pq.write_table(pq.read_table(path).drop_columns(["row_facts"]), path)
    assert read(path) == results


def test_facts_of_more_rows_than_there_are_are_refused(bert, tmp_path):
    path = tmp_path / "results.json"
    save(explained(bert, "grad_cam", "all")[:1], path)
    text = path.read_text()
    assert '\\"diagnostics\\": [{' in text
    path.write_text(text.replace('\\"caveats\\": [[', '\\"caveats\\": [[], [', 1))
    with pytest.raises(BadFile, match="do not fit the rows"):
        read(path)


def test_a_text_in_windows_knows_each_row_by_itself(bert):
    long = Example((" ".join(["A good film."] * 400),))
    every = pellucid.explain(bert, [long], "grad_cam", layer="all", progress=False)[0]
    alone = pellucid.explain(bert, [long], "grad_cam", layer=1, progress=False)[0]
    assert every.row("1").diagnostics == pytest.approx(dict(alone.diagnostics), abs=1e-5)
    assert every.row("1").caveats == alone.caveats
    assert every.diagnostics["windows"] > 1
