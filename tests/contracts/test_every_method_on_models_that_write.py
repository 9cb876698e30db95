"""Every method that can explain a written word keeps its promises on every way of building a model that writes."""

from functools import cache

import numpy as np
import pytest

import pellucid
from pellucid.base.kinds import attributions
from pellucid.text.example import as_examples
from tests.shared.asking import FEW, ask_all, reads_states, works
from tests.shared.threads import hurried_switching, together
from tests.shared.tiny_writing import KINDS, tiny_writing

pytestmark = pytest.mark.whole

PAIR, BESIDE = ("A good film.", "A fine story, well told."), ("Dull and long, I would say.", "Not it.")
WORD, STEP = 2, 1  # the word that is explained, and the written piece whose state is
THREADS = 4
NOTHING = {"guan_relevance", "allennlp_smooth"}  # 0 by construction where a norm follows, here or there
OWN_WEIGHTS = {
    "linear_coefficients",
    "span_attention",
    "unit_attention",
    "rationale",
    "b_cos",
    "decoded_saliency",
    "wu_ong_lrp",
}


def new_model(kind):
    """In float64, so that rounding hides nothing."""
    model = tiny_writing(kind)
    model.network.double()
    return model


def methods_of(model):
    return [name for name in attributions.names() if works(name, model)]


def step_of(model, pair=PAIR):
    """The number of the written piece whose state is explained, in the row of the pair."""
    (row,) = model.encode(as_examples([pair])).rows
    return [piece for piece, id in enumerate(row.written) if id >= 0][STEP]


def explained(model, pairs, seed=0):
    """For each method its explanations, of a word, or of a decoder's state at a step."""
    calls = [(name, FEW.get(name, {})) for name in methods_of(model)]
    targets = {
        False: pellucid.Word(WORD),
        True: pellucid.HiddenState(model.n_layers - 1, positions=(step_of(model),)),
    }
    results = {}
    for of_states, target in targets.items():
        some = [call for call in calls if reads_states(call[0]) == of_states]
        by_title = ask_all(model, pairs, some, target=target, seed=seed)
        results |= {title.partition("(")[0]: of_method for title, of_method in by_title.items()}
    return results


@cache
def alone(kind):
    """One pair by itself, under a model of its own."""
    return {name: of_method[0] for name, of_method in explained(new_model(kind), [PAIR]).items()}


@pytest.mark.parametrize("kind", KINDS)
def test_every_method_but_those_of_other_models_works(kind):
    assert set(attributions.names()) - alone(kind).keys() == OWN_WEIGHTS


@pytest.mark.parametrize("kind", KINDS)
def test_a_neighbour_changes_nothing(kind):
    """Fresh objects on both sides; the neighbour reads more and writes less."""
    for name, (one, _) in explained(new_model(kind), [PAIR, BESIDE]).items():
        own = alone(kind)[name].scores
        np.testing.assert_allclose(one.scores, own, rtol=1e-5, atol=1e-5 * np.abs(own).max(), err_msg=name)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_seed_draws_the_same(kind):
    for name, (one,) in explained(new_model(kind), [PAIR]).items():
        assert one == alone(kind)[name], name


@pytest.mark.parametrize("kind", KINDS)
def test_words_that_come_later_score_exactly_nothing(kind):
    model = new_model(kind)
    batch = model.encode(as_examples([PAIR]))
    (word,) = pellucid.Word(WORD).resolve(batch, model).words[0]
    after = batch.units[0].start[step_of(model) + 1]
    for name, one in alone(kind).items():
        begins = after if reads_states(name) else word.begins
        later = (np.array(one.units.segment) == 1) & (np.array(one.units.start) >= begins)
        assert later.any() and not one.scores[..., later].any(), name
        assert one.scores.any() or name in NOTHING, name


@pytest.mark.parametrize("kind", ("marian", "gpt2"))
def test_four_threads_give_what_one_gives(kind):
    """As many as run each method in `test_threads.py`."""
    model, expected = new_model(kind), alone(kind)
    with hurried_switching():
        runs = together(*[lambda: explained(model, [PAIR])] * THREADS)
    for run in runs:
        for name, (one,) in run.items():
            assert one == expected[name], name
