"""Every method gives what its paper's formula gives, written out slowly in tests/reference."""

import numpy as np
import pytest
import torch
from captum.attr import LayerIntegratedGradients

from pellucid.base.errors import ModelCannot
from pellucid.run.batch import OPERATORS
from pellucid.run.target import Target
from pellucid.text.example import as_examples
from tests.reference import attributions as literal
from tests.reference.span_attention import span_attention
from tests.shared.asking import ask
from tests.shared.tiny import DECODERS, FAMILIES, tiny_classifier, tiny_composed

PAIR = ("The café was closed.", "Nobody could eat there.")
TEXTS = (("A gripping, lovely film.",), PAIR, ("fine",))
SHORT = (("A lovely film.",), ("A film.", "It is dull."))  # differences cost the cube of the length
LABEL = 1
# (step, tolerance) of differences. Some turn queries and keys, or take roots, in float32 whatever they are given.
IN_FLOAT32 = ("modernbert", "llama", "qwen2")
DIFFERENCES = dict.fromkeys(FAMILIES, (1e-05, 1e-06)) | dict.fromkeys(IN_FLOAT32, (1e-3, 1e-4))


@pytest.fixture(scope="module")
def doubles():
    """A classifier of each family in float64: there differences are exact enough to compare with."""
    classifiers = {family: tiny_classifier(family) for family in FAMILIES}
    for classifier in classifiers.values():
        classifier.network.double()
    return classifiers


def scores_of(classifier, segments, method, of=LABEL, **settings):
    text = segments[0] if len(segments) == 1 else tuple(segments)
    return ask(classifier, [text], (method, settings), target=Target(of))[0].scores


def assert_close(actual, expected, atol):
    expected = np.asarray(expected)
    np.testing.assert_allclose(actual, expected, rtol=0, atol=atol * max(1.0, float(np.abs(expected).max())))


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("segments", SHORT, ids=("single", "pair"))
def test_gradient_and_gradient_x_input_are_the_gradient_by_differences(family, segments, doubles):
    classifier, (step, tolerance) = doubles[family], DIFFERENCES[family]
    gradient = literal.gradient_by_differences(classifier, segments, LABEL, step)
    assert_close(scores_of(classifier, segments, "gradient"), gradient.norm(dim=-1), tolerance)
    assert_close(scores_of(classifier, segments, "gradient", norm="l1"), gradient.abs().sum(-1), tolerance)
    products = literal.gradient_x_input(classifier, segments, gradient)
    assert_close(scores_of(classifier, segments, "gradient_x_input"), products, tolerance)


def test_gradient_x_input_says_where_it_can_only_be_zero(doubles):
    for family, classifier in doubles.items():
        explanation = ask(classifier, ["A gripping, lovely film."], "gradient_x_input")[0]
        expected = family in ("modernbert", "deberta_v3")  # a norm comes right after the word embeddings
        assert any("0 by construction" in caveat for caveat in explanation.caveats) == expected, family


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("baselines", ("pad", "mask", "zero"))
def test_integrated_gradients_is_the_loop(family, baselines, doubles):
    if baselines == "mask" and family in DECODERS:
        with pytest.raises(ModelCannot, match="no mask token; use baselines='zero'"):
            scores_of(doubles[family], TEXTS[0], "integrated_gradients", baselines=baselines)
        return
    for segments in TEXTS[:2]:
        expected = literal.integrated_gradients(doubles[family], segments, LABEL, 5, baselines)
        scores = scores_of(doubles[family], segments, "integrated_gradients", n_steps=5, baselines=baselines)
        assert_close(scores, expected, 1e-6)


def test_tripled_steps_are_the_loop_with_as_many_steps(doubles):
    explanation = ask(
        doubles["bert"],
        [PAIR],
        ("integrated_gradients", {"n_steps": 2, "tolerance": 0.01}),
        target=Target(LABEL),
    )[0]
    steps = int(explanation.diagnostics["n_steps"])
    assert steps in (6, 18, 54, 162)
    assert_close(explanation.scores, literal.integrated_gradients(doubles["bert"], PAIR, LABEL, steps, "pad"), 1e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("segments", TEXTS[:2], ids=("single", "pair"))
def test_integrated_gradients_is_captums(family, segments, doubles):
    classifier = doubles[family]
    inputs = literal.inputs_of(classifier, segments)
    ids, rest = inputs.pop("input_ids"), inputs
    blank = ids.clone()
    blank[0, [position for positions in literal.content_of(classifier, segments) for position in positions]] = (
        literal.pad_of(classifier)
    )
    oracle = LayerIntegratedGradients(
        lambda ids: classifier.network(ids, **rest).logits, classifier.network.get_input_embeddings()
    )
    expected = oracle.attribute(ids, blank, target=LABEL, n_steps=6, method="riemann_middle", internal_batch_size=1)
    scores = scores_of(classifier, segments, "integrated_gradients", n_steps=6)
    assert_close(scores, expected.sum(-1)[0].detach(), 1e-5)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("window", (1, 3))
def test_occlusion_is_the_full_length_with_the_pieces_masked_from_attention(family, window, doubles):
    for segments in TEXTS:
        expected = literal.occlusion(doubles[family], segments, LABEL, window)
        assert_close(scores_of(doubles[family], segments, "occlusion", unit="piece", window=window), expected, 1e-6)


@pytest.mark.parametrize("unit", ("word", "sentence"))
def test_occlusion_of_a_unit_takes_all_its_pieces(unit, doubles):
    classifier, segments = doubles["bert"], ("An unforgettable film. Go!", "Dull?")
    inputs = literal.inputs_of(classifier, segments)
    groups = classifier.encode(as_examples([segments])).pieces_of(0, unit)
    assert max(map(len, groups)) > 1
    falls = []
    with torch.no_grad():
        whole = classifier.network(**inputs).logits[0, LABEL]
        for pieces in groups:
            mask = inputs["attention_mask"].clone()
            mask[0, list(pieces)] = 0
            falls.append(float(whole - classifier.network(**{**inputs, "attention_mask": mask}).logits[0, LABEL]))
    text = ask(classifier, [segments], ("occlusion", {"unit": unit}), target=Target(LABEL))[0]
    assert_close(text.scores[~text.special], falls, 1e-6)
    assert not text.scores[text.special].any()


@pytest.mark.parametrize("family", FAMILIES)
def test_an_absent_piece_is_one_that_nothing_attends_to(family, doubles, texts):
    """Absent pieces are not computed; the answer is that of the full length under an attention mask."""
    classifier = doubles[family]
    batch = classifier.encode(as_examples(texts))
    for number, example in enumerate(batch.examples):
        inputs = literal.inputs_of(classifier, example.segments)
        removed = batch.units[number].content[::2]
        with torch.no_grad():
            whole = literal.without(classifier, inputs, removed)
            logits = classifier.trace([batch.edited(number, removed, "absent")]).logits[0]
        assert_close(logits, whole, 1e-9)


@pytest.mark.parametrize("operator", sorted(set(OPERATORS) - {"absent"}))
def test_other_operators_edit_the_ids(operator, doubles):
    classifier = doubles["bert"]
    inputs = literal.inputs_of(classifier, TEXTS[0])
    expected = []
    with torch.no_grad():
        whole = classifier.network(**inputs).logits[0, LABEL]
        for position in literal.content_of(classifier, TEXTS[0])[0]:
            edited = {name: value.clone() for name, value in inputs.items()}
            if operator == "delete":
                edited = {
                    name: torch.cat([value[:, :position], value[:, position + 1 :]], 1)
                    for name, value in edited.items()
                }
            else:
                edited["input_ids"][0, position] = getattr(classifier.tokenizer, f"{operator}_token_id")
            expected.append(float(whole - classifier.network(**edited).logits[0, LABEL]))
    assert_close(scores_of(classifier, TEXTS[0], "occlusion", unit="piece", operator=operator)[1:-1], expected, 1e-6)


@pytest.mark.parametrize("max_width", (None, 2))
def test_span_attention_is_the_papers_softmax(max_width):
    classifier = tiny_composed("span", unit="piece", max_width=max_width)
    pooler = classifier.network.pooler
    layers = (pooler.start, pooler.end, pooler.difference, pooler.product)
    batch = classifier.encode(as_examples([PAIR]))
    with torch.no_grad():
        states = classifier.network.states(classifier.place(batch.rows)["pieces"])[0]
        weights, biases = [layer.weight for layer in layers], [layer.bias for layer in layers]
        result = span_attention(states, batch.rows[0].segments, weights, biases, pooler.score.weight[0], max_width)
    explanation = ask(classifier, [PAIR], "span_attention")[0]
    spans = list(zip(explanation.units.first.tolist(), explanation.units.last.tolist(), strict=True))
    assert spans == list(result.weights)
    assert_close(explanation.scores, [float(weight) for weight in result.weights.values()], 2e-5)
    assert explanation.diagnostics["effective_spans"] == pytest.approx(1 / float(result.concentration), rel=1e-3)
