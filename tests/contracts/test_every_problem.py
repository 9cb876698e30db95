"""Every method explains every kind of problem: several labels at once, one logit, a regression; and one class against
another.
"""

from itertools import product

import numpy as np
import pytest

from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.kinds import attributions
from pellucid.run.target import Target
from pellucid.text.example import Example
from tests.shared.asking import FEW, ask, reads_states, works
from tests.shared.tiny import LABELS, tiny_classifier, tiny_composed, with_tiny_head

pytestmark = pytest.mark.whole

METHODS = [name for name in attributions.names() if not reads_states(name)]  # the others explain no class
TEXTS = ("A gripping, lovely film.", "fine", ("The café was closed.", "Nobody could eat there."))
PROBLEMS = {
    "multi_label": (LABELS, {"problem_type": "multi_label_classification"}),
    "one_logit": (("spam",), {}),
    "regression": (("stars",), {"problem_type": "regression"}),
}
OUTPUTS = ("probability", "loss")
OF = {"multi_label": ("neutral", "positive"), "one_logit": ("not spam", "spam"), "regression": ("stars",)}


@pytest.fixture(scope="module")
def problems():
    """A tiny classifier of each problem, and a decoder for several labels."""
    models = {
        kind: with_tiny_head(tiny_classifier("bert", labels, **config)) for kind, (labels, config) in PROBLEMS.items()
    }
    labels, config = PROBLEMS["multi_label"]
    return models | {"multi_label decoder": tiny_classifier("gpt2", labels, **config)}


@pytest.fixture(scope="module")
def spans():
    """Self-explaining models, for methods that read a model's own weights or its choice of words."""
    models = [tiny_composed(pooler, problem="multi_label") for pooler in ("span", "rationale", "additive")]
    models.append(tiny_composed("mean", problem="multi_label", layer_form="b_cos"))
    return {"multi_label": models, "multi_label decoder": models}


def model_for(method, kind, problems, spans):
    """A model of the kind that has what the method needs."""
    if works(method, problems[kind]):
        return problems[kind]
    for model in spans.get(kind, ()):
        if works(method, model):
            return model
    pytest.skip(f"{method} needs a model of another build")


def explained(model, texts, method, target):
    return ask(model, texts, (method, FEW.get(method, {})), target=target)


def sigmoid(value):
    return 1 / (1 + np.exp(-np.asarray(value, dtype=float)))


@pytest.mark.parametrize("kind", ("multi_label", "multi_label decoder", "one_logit", "regression"))
@pytest.mark.parametrize("method", METHODS)
def test_the_predicted_class_is_explained(method, kind, problems, spans):
    model = model_for(method, kind, problems, spans)
    for explanation in explained(model, TEXTS, method, Target()):
        assert np.isfinite(explanation.scores).all()
        logits = explanation.prediction.logits
        scores = (-logits[0], logits[0]) if kind == "one_logit" else logits
        assert explanation.target.label == model.labels[int(np.argmax(scores))] == explanation.prediction.label
        assert explanation.target.value == pytest.approx(max(scores), abs=1e-5)


@pytest.mark.parametrize("kind", ("multi_label", "multi_label decoder", "one_logit"))
@pytest.mark.parametrize("method", METHODS)
def test_each_class_has_its_own_sigmoid(method, kind, problems, spans):
    model = model_for(method, kind, problems, spans)
    # Methods see a target's value alone: with one of them, each output of each class; with the others, each once.
    classes = OF[kind.split()[0]]
    pairs = product(classes, OUTPUTS) if method == "gradient_x_input" else zip(classes, OUTPUTS, strict=True)
    for of, output in pairs:
        explanation = explained(model, TEXTS[:1], method, Target(of, output))[0]
        z = explanation.prediction.logits[-1 if kind == "one_logit" else model.labels.index(of)]
        chance = sigmoid(-z if of == "not spam" else z)
        expected = chance if output == "probability" else -np.log(chance)
        assert explanation.target.value == pytest.approx(float(expected), abs=1e-5)
        assert np.isfinite(explanation.scores).all()


@pytest.mark.parametrize("kind", ("multi_label", "multi_label decoder", "one_logit"))
@pytest.mark.parametrize("method", METHODS)
def test_a_class_can_be_explained_against_another(method, kind, problems, spans):
    model = model_for(method, kind, problems, spans)
    first, second = OF[kind.split()[0]]
    for explanation in explained(model, TEXTS[:2], method, Target((first, second))):
        logits = explanation.prediction.logits
        scores = {"not spam": 0.0, "spam": logits[0]} if kind == "one_logit" else None  # z: the log odds
        scores = scores or dict(zip(model.labels, logits, strict=True))
        assert explanation.target.value == pytest.approx(scores[first] - scores[second], abs=1e-5)
        assert (explanation.target.label, explanation.target.against) == (first, second)
        assert np.isfinite(explanation.scores).all()


@pytest.mark.parametrize("method", METHODS)
def test_the_gold_class_of_several_labels_is_explained(method, problems, spans):
    model = model_for(method, "multi_label", problems, spans)
    explanation = explained(model, [Example(("A fine film.",), label="neutral")], method, Target("gold"))[0]
    assert explanation.target.label == "neutral"


@pytest.mark.parametrize("method", METHODS)
def test_the_two_readings_of_one_logit_mirror_each_other(method, problems):
    """For a method that is linear in the target, the scores for -z are the negative of the scores for z."""
    model = problems["one_logit"]
    if not works(method, model):
        pytest.skip("span models have a logit a class")
    against, towards = (explained(model, TEXTS, method, Target(of))[0].scores for of in ("not spam", "spam"))
    if method in ("gradient_x_input", "integrated_gradients", "occlusion", "attention_gradient"):
        np.testing.assert_allclose(against, -towards, atol=1e-6)
    elif method in ("gradient", "attention", "attention_norm", "chance"):
        np.testing.assert_allclose(against, towards, atol=1e-6)


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_regression_has_no_probability(output, problems):
    for method in METHODS:
        if works(method, problems["regression"]):
            with pytest.raises((BadSetting, ModelCannot), match="no probabilities"):
                explained(problems["regression"], TEXTS[:1], method, Target(output=output))
