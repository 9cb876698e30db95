"""Maps of the steps of models that write: a row for the state that writes each piece, the words that it read or had
written in columns.
"""

import sys

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadSetting
from pellucid.cli import main
from pellucid.run.readout import StateReadout
from pellucid.run.state_scale import readout_scale
from tests.shared.parsed import parsed
from tests.shared.tiny_writing import KINDS, TRANSLATORS, save_tiny_writing, tiny_lstm, tiny_writing

PAIR, BESIDE = ("A good film.", "A fine story."), ("Dull and long.", "Not it.")
FEW = {"n_steps": 4, "n_seeds": 2, "n_probes": 4, "reference": ("A good film.", "The food was cold, and nobody came.")}


def steps(model, pairs, **settings):
    settings = {"layers": model.n_layers, "positions": "each", "progress": False} | FEW | settings
    return pellucid.layer_analysis(model, pairs, **settings)


@pytest.mark.parametrize("kind", [*KINDS, "lstm"])
def test_a_cell_is_what_the_state_that_writes_a_piece_holds_of_a_word(kind):
    model = tiny_lstm() if kind == "lstm" else tiny_writing(kind)
    analysis = steps(model, [PAIR, BESIDE])
    (one, _), (row, _) = analysis.models[0].seeds[0], model.encode([pellucid.Example(p) for p in (PAIR, BESIDE)]).rows
    written = [piece for piece, id in enumerate(row.written) if id >= 0]
    assert analysis.row_kind == "step" and len(one.scores) == len(written)
    step = len(written) - 2
    state = pellucid.HiddenState(model.n_layers, (written[step] - 1,))
    (alone,) = pellucid.explain(model, [PAIR], "retained_information", target=state, progress=False, **FEW)
    np.testing.assert_allclose(one.scores[step], alone.scores, atol=1e-4)
    for number, piece in enumerate(written):
        later = [unit for unit in one.units.content if unit >= piece]
        assert not one.scores[number, later].any() and one.scores[number, : piece - 1].any()


@pytest.mark.parametrize("kind", KINDS)
def test_a_row_is_the_closed_form_of_a_nearly_linear_state_by_plain_calls(kind):
    """With hardly any noise sigma_i² = rate d / (2 n |J_i / sigma_S|²), where J is the Jacobian of the decoder's state."""
    model, rate, step = tiny_writing(kind), 1e-6, 2
    network, layer = model.network.double(), model.n_layers - 1
    settings = {"n_steps": 68, "n_seeds": 3, "n_probes": 16, "rate": rate}
    (one,) = steps(model, [PAIR], layers=layer, **settings).models[0].seeds[0]
    (row,) = model.encode([pellucid.Example(PAIR)]).rows
    place = [piece for piece, id in enumerate(row.written) if id >= 0][step] - 1
    source, times = row.types.index(1), network.config.d_model**0.5 if kind == "marian" else 1.0

    def state(points):
        if kind not in TRANSLATORS:
            return network(inputs_embeds=points, output_hidden_states=True).hidden_states[layer][0, place]
        read, written = points[:, :source] * times, points[:, source:]  # of Marian the decoder multiplies by itself
        passed = network(inputs_embeds=read, decoder_inputs_embeds=written, output_hidden_states=True)
        return passed.decoder_hidden_states[layer - 2][0, place - source]

    scale = readout_scale(model, StateReadout(layer, (place,)), FEW["reference"])
    embeddings = network.get_input_embeddings()(torch.tensor([row.ids])).detach()
    jacobian = torch.autograd.functional.jacobian(state, embeddings)[:, 0] / scale.deviations[:, None, None]
    squares = jacobian.square().sum((0, 2))
    sigmas = (rate * len(scale.deviations) / (2 * len(row.ids) * squares)).sqrt()
    expected = (10 * scale.word_deviation / sigmas).log().clamp_min(0.0).numpy()
    np.testing.assert_allclose(one.scores[step], expected, atol=0.02)
    assert not expected[place + 1 :].any() and (expected[: place + 1] > 1).all()


def test_page_figure_and_command_name_the_piece_that_is_written(tmp_path, capsys, monkeypatch):
    folder, data = save_tiny_writing(tmp_path / "model", "marian"), tmp_path / "pairs.jsonl"
    data.write_text('{"premise": "A good film.", "hypothesis": "A fine story."}\n', encoding="utf-8")
    words = ["layers", str(folder), "--file", str(data), "--layers", "4", "--positions", "each", "--method"]
    words += ["guan_gradient", "--html", str(tmp_path / "steps.html"), "--save", str(tmp_path / "steps.json")]
    monkeypatch.setattr(sys, "argv", ["pellucid", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code and "steps" in capsys.readouterr().out
    analysis = pellucid.LayerAnalysis.read(tmp_path / "steps.json")
    text = parsed((tmp_path / "steps.html").read_text(encoding="utf-8")).text
    (one,) = analysis.models[0].seeds[0]
    pieces = [one.units.labels[unit] for unit in one.units.content if one.units.segment[unit] == 1]
    assert all(f"{number} {piece}" in text for number, piece in enumerate(pieces, 1))
    assert "the piece that is written next" in text
    pytest.importorskip("matplotlib")
    pellucid.figure(analysis, tmp_path / "steps.svg")
    assert (tmp_path / "steps.svg").stat().st_size > 1000


@pytest.mark.parametrize("kind", TRANSLATORS)
def test_a_layer_that_reads_has_no_steps(kind):
    with pytest.raises(BadSetting, match=r"layers=2 is of the part of .* that reads.* 3 to 4") as caught:
        steps(tiny_writing(kind), [PAIR], layers=2)
    assert "\n" not in str(caught.value)


def test_a_text_alone_is_written_on_first():
    model = tiny_writing("bart")
    (written,) = pellucid.write(model, PAIR[0], max_pieces=128, progress=False)
    where = {"layers": 4, "positions": "each", "progress": False}
    analysis = pellucid.layer_analysis(model, [PAIR[0]], "guan_gradient", **where)
    assert analysis.texts[0].segments == (PAIR[0], written.text)
