"""Maps whose rows are time steps: each row is the state at one piece, later pieces have nothing, and the page names the
steps.
"""

from dataclasses import replace

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadInput, BadSetting
from pellucid.layers.question import joined_steps
from pellucid.run.hidden_target import HiddenState
from pellucid.text.ranges import step_labels, steps_of
from studies.s3_steps.network import ReversingNetwork, as_model
from tests.shared.parsed import parsed
from tests.shared.tiny import tiny_classifier

PAIRS = [pellucid.Example(pair) for pair in (("a b c d", "d c"), ("b a", "a"), ("d c b a", "a b c d"))]
METHOD = "guan_gradient"


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(1)
    network = ReversingNetwork(8).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2.0)
    return as_model(network)


@pytest.fixture(scope="module")
def analysis(model):
    return steps(model, PAIRS)


def steps(model, texts, **settings):
    settings = {"layers": 3, "method": METHOD, "positions": "each"} | settings
    return pellucid.layer_analysis(model, texts, progress=False, **settings)


def test_each_row_is_what_explain_says_of_the_state_at_that_piece(model, analysis):
    """Steps of a pair: the token between the texts, then the second text's pieces; texts with other numbers do not
    matter.
    """
    assert analysis.row_kind == "step"
    for text, pair in enumerate(PAIRS):
        one = analysis.models[0].seeds[0][text]
        source = len(pair.segments[0].split())
        assert one.rows == (("step", tuple(str(n + 1) for n in range(len(pair.segments[1].split()) + 1))),)
        for row, piece in enumerate(steps_of(one.units)):
            assert piece == source + row
            (alone,) = pellucid.explain(model, [pair], METHOD, target=HiddenState(3, (piece,)), progress=False)
            np.testing.assert_allclose(one.scores[row], alone.scores, rtol=0, atol=1e-6)


def test_of_what_comes_later_a_step_holds_nothing(analysis):
    one = analysis.models[0].seeds[0][2]
    for row, piece in enumerate(steps_of(one.units)):
        assert not one.scores[row, piece + 1 :].any() and one.scores[row, : piece + 1].all()


def test_of_one_text_the_steps_are_its_pieces():
    one = steps(tiny_classifier("gpt2"), ["A good film."], layers=2).models[0].seeds[0][0]
    assert steps_of(one.units) == one.units.content and len(one.scores) == len(one.units.content)
    assert not np.triu(one.scores[:, list(one.units.content)], 1).any()


def test_the_page_has_a_line_a_step_named_by_its_piece_and_no_sums_over_texts(analysis, tmp_path):
    page = pellucid.report(analysis, path=tmp_path / "steps.html", title="Steps").read_text(encoding="utf-8")
    text = parsed(page).text
    for label in step_labels(analysis.models[0].seeds[0][2].units):
        assert label in text
    assert "step by step" in text and "A line a step" in text and "kept most" not in text
    assert page.count("<article") == len(PAIRS)


def test_caveats_of_steps_that_differ_in_numbers_are_one_sentence(analysis):
    """Forty steps of one search would else be forty lines."""
    row = analysis.models[0].seeds[0][0].row("1")
    spread = [replace(row, caveats=(f"They differ by 0.{n} nats.", "It had not settled.")) for n in (2, 31)]
    joined = joined_steps([*spread, replace(row, caveats=("Nothing moved.",))])
    assert joined.caveats == (
        "They differ by 0.2 nats. So in 2 steps, with their own numbers.",
        "It had not settled. So in 2 steps.",
        "Nothing moved.",
    )


def test_it_is_saved_and_has_a_folder_as_layers_have(model, analysis, tmp_path):
    folder = tmp_path / "work"
    assert steps(model, PAIRS, out=folder) == analysis == steps(model, PAIRS, out=folder)
    analysis.save(tmp_path / "steps.json")
    assert pellucid.LayerAnalysis.read(tmp_path / "steps.json") == analysis
    assert "5 steps" in str(analysis)


@pytest.mark.parametrize(
    "settings, error, message",
    [
        ({"layers": "all"}, BadSetting, "give the number of one"),
        ({"layers": "head"}, BadSetting, "give the number of one"),
        ({"layers": 9}, BadSetting, "layers=9 is no layer of .*; give a number from 0 to 3, or all"),
        ({"method": "grad_cam"}, BadSetting, "explains no state of a step"),
    ],
)
def test_what_it_refuses(model, settings, error, message):
    with pytest.raises(error, match=message) as caught:
        steps(model, PAIRS, **settings)
    assert "\n" not in str(caught.value)


def test_a_text_in_windows_has_no_steps():
    long = " ".join(["A good film."] * 60)
    with pytest.raises(BadInput, match="longer than the model reads at once"):
        steps(tiny_classifier("bert"), [long], layers=1)
