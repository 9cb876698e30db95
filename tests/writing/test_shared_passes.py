"""One pass serves every word that is written; each word has only its own way back."""

from contextlib import contextmanager

import numpy as np
import pytest

import pellucid
from tests.shared.tiny_writing import tiny_writing

PAIRS = [("A good film about a dog.", "A fine story, well told."), ("Dull.", "A long film.")]
PATHS = {
    "integrated_gradients": {"n_steps": 4},
    "integrated_gradients in a layer": {"n_steps": 4, "layer": 3},
    "integrated_gradients with a tolerance": {"n_steps": 4, "tolerance": 0.001},
    "smooth_gradient": {"n_samples": 5},
    "gradient_shap": {"n_samples": 4, "baselines": "uniform", "n_baselines": 2, "noise": 0.05},
    "sequential_integrated_gradients": {"n_steps": 2},
    "discretised_integrated_gradients": {"n_steps": 3, "n_neighbours": 8},
}


@contextmanager
def counted(model):
    """The passes with a graph that the model runs meanwhile: rows of each."""
    trace, rows = type(model).trace, []

    def counting(self, some, want=None, *rest, **named):
        if want is not None and want.gradients:
            rows.append(len(some))
        return trace(self, some, *([] if want is None else [want]), *rest, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(type(model), "trace", counting)
        yield rows


@pytest.mark.parametrize("name", PATHS)
def test_every_word_has_the_scores_that_it_has_alone(name):
    model, method = tiny_writing("bart"), name.split()[0]
    together = pellucid.explain(model, PAIRS, method, progress=False, **PATHS[name])
    for pair, one in zip(PAIRS, together, strict=True):
        for number in (1, len(one.rows[0][1])):
            (alone,) = pellucid.explain(
                model, [pair], method, target=pellucid.Word(number), progress=False, **PATHS[name]
            )
            np.testing.assert_allclose(one.scores[number - 1], alone.scores, rtol=1e-3, atol=1e-5)
            row = one.row_diagnostics[number - 1]
            assert row.keys() == alone.diagnostics.keys()


@pytest.mark.parametrize("kind", ("marian", "gpt2"))
@pytest.mark.parametrize(
    "method, settings, points",
    (
        ("gradient", {}, 0),
        ("gradient_x_input", {}, 0),
        ("grad_cam", {}, 0),
        ("integrated_gradients", {"n_steps": 4}, 4),
        ("smooth_gradient", {"n_samples": 6}, 6),
        ("gradient_shap", {"n_samples": 5}, 5),
    ),
)
def test_words_share_their_passes(kind, method, settings, points):
    """Seven words need the rows of one: the text's own, and one a point of the path."""
    model = tiny_writing(kind)
    with counted(model) as rows:
        pellucid.explain(model, PAIRS[:1], method, progress=False, **settings)
    assert sum(rows) == 1 + points


def test_words_share_passes_in_turns_where_their_sums_are_large(monkeypatch):
    model = tiny_writing("gpt2")
    (whole,) = pellucid.explain(model, PAIRS[:1], "integrated_gradients", n_steps=3, progress=False)
    monkeypatch.setattr("pellucid.run.forward_pass.SHARED", 2 * whole.scores.shape[1])
    with counted(model) as rows:
        (one,) = pellucid.explain(model, PAIRS[:1], "integrated_gradients", n_steps=3, progress=False)
    assert sum(rows) == 1 + 4 * 3  # seven words, two at a time
    np.testing.assert_allclose(one.scores, whole.scores, rtol=1e-4, atol=1e-6)
