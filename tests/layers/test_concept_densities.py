"""What layers hold of a word beyond its concepts: against the formulas written out, and what must be true of them."""

import json

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadInput, ModelCannot, PellucidError
from pellucid.data.load import load_concepts
from pellucid.run.state_scale import state_scale
from pellucid.text.example import as_examples
from tests.shared.tiny import save_tiny, tiny_classifier

TEXT = "A gripping, lovely film."
REFERENCE = ("A fine film.", "The café was closed on Monday.", "Nobody could eat there, it seems.")
QUICK = {"reference": REFERENCE, "n_seeds": 1, "n_steps": 4, "n_probes": 2}
CONCEPTS = {"itself": ["lovely"], "praise": ["fine", "good", "gripping"], "blame": ["dull", "unbearable"]}


def analyse(model, text=TEXT, word="lovely", concepts=CONCEPTS, **changes):
    return pellucid.concepts(
        model, text, word, concepts, **{"n_random": 20, "settings": QUICK, "progress": False, **changes}
    )


@pytest.fixture(scope="module")
def analysis(bert):
    return analyse(bert)


@pytest.mark.parametrize("family", ("bert", "roberta", "gpt2", "albert", "distilbert"))
def test_of_itself_nothing_remains_and_the_gaussian_ratio_is_the_same_in_every_layer(family):
    """Property test 13 of METHODS; "unbearable" and "gripping" are several pieces in these vocabularies."""
    of_family = analyse(tiny_classifier(family))
    gaussian, substitution = of_family.densities
    np.testing.assert_allclose(gaussian.remaining[:, 0], 0, atol=0)
    largest = substitution.remaining.max()
    np.testing.assert_allclose(substitution.remaining[:, 0], 0, atol=1e-9 * largest + 1e-9)
    ratio = gaussian.remaining[:, 2] / gaussian.remaining[:, 1]
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    other = substitution.remaining[:, 2] / substitution.remaining[:, 1]
    assert np.ptp(other) > 1e-3, "by substitution the layers differ"


def test_in_double_precision_rounding_is_not_what_remains(tmp_path):
    """Two passes of the same text differ there by 1e-15; the word in the place of itself has moved nothing."""
    model = pellucid.load(save_tiny(tmp_path / "model"), dtype="float64")
    density = analyse(model, concepts=CONCEPTS | {"itself": ["lovely", "lovely "]}).density("substitution")
    assert (density.remaining[:, 0] == 0).all() and not np.signbit(density.remaining[:, 0]).any()
    assert (density.remaining[:, 1:] > 0).all() and np.isnan(density.contrast).all()


def test_the_numbers_are_those_of_the_formulas_written_out(bert):
    """Slowly: one word after the other, each put into the text as a tensor, states of layer 2 compared by hand."""
    analysis = analyse(bert, layer=2, concepts={"praise": ["fine", "good"], "blame": ["dull"]})
    batch = bert.encode(as_examples([TEXT]))
    ids, words = list(batch.rows[0].ids), bert.tokenizer.tokenize("lovely")
    first = next(n for n, unit in enumerate(batch.units[0].start) if unit == TEXT.index("lovely"))
    pieces = list(range(first, first + len(words)))

    def vector(word):
        return bert.embed(torch.tensor(bert.tokenizer(word, add_special_tokens=False)["input_ids"])).mean(0)

    base = bert.embed(torch.tensor([ids]))

    def states(points):
        return bert.network(inputs_embeds=points, output_hidden_states=True).hidden_states[2][0]

    state = states(base)
    (target,) = pellucid.HiddenState(2, "all").resolve(torch.ones(1, 32), bert).one_a_layer()
    spread = state_scale(bert, target, REFERENCE).deviations
    retained = pellucid.explain(
        bert, TEXT, "retained_information", target=pellucid.HiddenState(2, "all"), progress=False, **QUICK
    )[0]
    sigma = retained.diagnostics["noise_scale"] * np.exp(-retained.scores[pieces].astype(float))

    def logs(word):
        shift = vector(word) - vector("lovely")
        points = base.clone()
        points[0, pieces] += shift
        moved = ((states(points) - state) / spread).square().sum() / 2
        noise = sum(float(shift.square().sum()) / (2 * one**2) for one in sigma)
        return -noise, -float(moved)

    with torch.no_grad():
        praise = np.mean([logs("fine"), logs("good")], 0)
        blame = np.array(logs("dull"))
    for number, density in enumerate(analysis.densities):
        np.testing.assert_allclose(density.remaining[0], [-praise[number], -blame[number]], rtol=1e-4)
        np.testing.assert_allclose(density.word[0] - density.concept[0], density.remaining[0], rtol=1e-9)


def test_other_concepts_and_random_words_change_nothing_that_remains(bert, analysis):
    fewer = analyse(bert, concepts={"blame": CONCEPTS["blame"]}, n_random=7)
    for one, other in zip(fewer.densities, analysis.densities, strict=True):
        np.testing.assert_allclose(one.remaining[:, 0], other.remaining[:, 2], rtol=1e-4)
        assert not np.allclose(one.word, other.word), "A is compared with other random words"


def test_the_same_question_has_the_same_answer(bert, analysis):
    again = analyse(bert)
    assert json.dumps(again.record()) == json.dumps(analysis.record())
    with torch.inference_mode():
        assert json.dumps(analyse(bert).record()) == json.dumps(analysis.record())
    assert not np.array_equal(analyse(bert, seed=1).densities[0].word, analysis.densities[0].word)


def test_one_layer_is_the_row_of_all(bert, analysis):
    one = analyse(bert, layer=1)
    assert (one.layers, analysis.layers) == ((1,), (0, 1, 2, 3))
    np.testing.assert_allclose(one.densities[1].remaining[0], analysis.densities[1].remaining[1], rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "word", "start", "sentence"),
    [
        (TEXT, "lovel", None, "'lovel' is no word of the text; its words are 'A', 'gripping'"),
        (TEXT, "", None, "The word is ''; give a word of the text."),
        ("so good, so far", "so", None, "stands in the text 2 times, at characters 0, 9; give start=0"),
        ("so good, so far", "so", 3, "does not start at character 3 of the text, but at 0, 9."),
        (("so far", "so good"), "so", None, "at characters 0 of text 1, 0 of text 2"),
        (("so far", "so good"), "so", 0, "stands at character 0 of both texts"),
    ],
)
def test_a_word_that_is_not_there_once_is_refused_with_its_places(bert, text, word, start, sentence):
    with pytest.raises(BadInput) as raised:
        analyse(bert, text, word, start=start)
    assert sentence in str(raised.value)


def test_start_says_which_of_two_is_meant(bert):
    text = "so good, so far"
    assert analyse(bert, text, "so", start=9, layer=0).start == 9
    assert analyse(bert, text, "so", start=0, layer=0).start == 0


def test_models_without_states_and_texts_in_windows_are_refused(bert):
    function = pellucid.from_function(lambda texts: [[0.2, 0.8] for _ in texts], ["down", "up"])
    with pytest.raises(ModelCannot, match="retained_information"):
        analyse(function)
    with pytest.raises(BadInput, match="longer than the model reads at once"):
        analyse(bert, "once " + "upon a time " * 200, "once")


def test_our_own_set_is_of_thirty_to_sixty_words_a_concept():
    concepts = load_concepts("everyday")
    assert len(concepts) == 7
    assert all(30 <= len(concept.words) <= 60 for concept in concepts)


@pytest.mark.parametrize(
    "changes, sentence",
    [
        ({"start": "2"}, "start='2' is no whole number"),
        ({"start": -1}, "out of range"),
        ({"names": 3}, "give a list of names of concepts"),
        ({"settings": [1]}, "give names with values"),
        ({"layer": np.zeros(3)}, "give a whole number, 'all' or 'head'"),
    ],
)
def test_odd_arguments_end_in_a_sentence(bert, changes, sentence):
    with pytest.raises(PellucidError, match=sentence):
        analyse(bert, **changes)
