"""Targets: which class, of which output, and what number that is."""

import pytest
import torch

from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.run.target import Target, class_logits, class_probabilities
from pellucid.text.example import Example

LABELS = ("negative", "neutral", "positive")
LOGITS = torch.tensor([[1.0, 0.5, -2.0], [-1.0, 0.0, 3.0]], dtype=torch.float64)
EXAMPLES = (Example(("one",), label="neutral"), Example(("two",), label="negative"))


def resolved(of="predicted", output="logit", logits=LOGITS, labels=LABELS, problem="single_label", examples=EXAMPLES):
    return Target(of, output).resolve(examples, logits, labels, problem)


def values(of="predicted", output="logit", logits=LOGITS, labels=LABELS, problem="single_label"):
    return resolved(of, output, logits, labels, problem).values(logits).tolist()


@pytest.mark.parametrize(
    ("of", "expected"),
    (
        ("predicted", [1.0, 3.0]),
        ("gold", [0.5, -1.0]),
        ("positive", [-2.0, 3.0]),
        (1, [0.5, 0.0]),
        (("positive", "negative"), [-3.0, 4.0]),
        ((0, "neutral"), [0.5, -1.0]),
        (("predicted", "neutral"), [0.5, 3.0]),
    ),
)
def test_the_logit_of(of, expected):
    assert values(of) == expected


def test_probability_and_loss_are_those_of_the_class():
    chances = LOGITS.softmax(-1)
    assert values("gold", "probability") == pytest.approx([chances[0, 1].item(), chances[1, 0].item()])
    assert values("gold", "loss") == pytest.approx([-chances[0, 1].log().item(), -chances[1, 0].log().item()])


def test_edited_inputs_keep_explaining_the_same_class():
    target = resolved()
    assert target.classes == (0, 2)
    assert target.values(LOGITS.flip(-1)).tolist() == [-2.0, -1.0]
    assert target.values_of(1, LOGITS).tolist() == [-2.0, 3.0]
    assert target.select([1]).values(LOGITS[1:]).tolist() == [3.0]
    contrast = resolved(("positive", "neutral"))
    assert contrast.values_of(0, LOGITS).tolist() == [-2.5, 3.0]
    assert contrast.select([1]).values(LOGITS[1:]).tolist() == [3.0]


def test_one_logit_is_two_opposite_classes():
    logits, labels = torch.tensor([[2.0], [-1.0]], dtype=torch.float64), ("not spam", "spam")
    examples = (Example(("one",), label="spam"), Example(("two",), label="spam"))
    chance = torch.tensor(2.0, dtype=torch.float64).sigmoid().item()
    assert class_logits(logits, "one_logit").tolist() == [[-2.0, 2.0], [1.0, -1.0]]
    assert class_probabilities(logits, "one_logit")[0].tolist() == pytest.approx([1 - chance, chance])

    def make(of, output):
        return resolved(of, output, logits, labels, "one_logit", examples).values(logits).tolist()

    assert make("predicted", "logit") == [2.0, 1.0]
    assert make("gold", "logit") == [2.0, -1.0]
    assert make("spam", "probability")[0] == pytest.approx(chance)
    assert make("not spam", "loss")[0] == pytest.approx(-torch.tensor(1 - chance).log().item(), rel=1e-5)
    # A contrast is a difference of log probabilities: the log odds, which are z itself.
    chances = class_probabilities(logits, "one_logit")
    odds = (chances[:, 1] / chances[:, 0]).log().tolist()
    assert make(("spam", "not spam"), "logit") == pytest.approx(odds) == [2.0, -1.0]
    assert make(("not spam", "spam"), "logit") == [-2.0, 1.0]
    assert make(("predicted", "not spam"), "logit") == [2.0, 0.0]


def test_labels_of_a_multi_label_model_are_judged_alone():
    assert values("neutral", "probability", problem="multi_label") == pytest.approx(LOGITS[:, 1].sigmoid().tolist())
    assert values("neutral", "loss", problem="multi_label") == pytest.approx((-LOGITS[:, 1].sigmoid().log()).tolist())
    assert values("predicted", "logit", problem="multi_label") == [1.0, 3.0]


def test_a_regression_model_has_a_value_and_nothing_else():
    logits = torch.tensor([[2.5], [-1.0]])
    assert values("predicted", "logit", logits, ("score",), "regression") == [2.5, -1.0]
    for output in ("probability", "loss"):
        with pytest.raises(BadSetting, match="no probabilities"):
            values("predicted", output, logits, ("score",), "regression")


def test_a_huge_logit_has_a_finite_loss():
    logits = torch.tensor([[500.0, -500.0, 0.0]] * 2)
    assert values("neutral", "loss", logits) == [1000.0, 1000.0]
    assert values("neutral", "loss", logits, problem="multi_label") == [500.0, 500.0]


def test_a_class_called_predicted_is_the_class():
    assert resolved("predicted", labels=("predicted", "gold", "x")).classes == (0, 0)
    assert resolved("gold", labels=("predicted", "gold", "x")).classes == (1, 1)


@pytest.mark.parametrize("of", (3, -1))
def test_a_class_number_out_of_range_raises(of):
    with pytest.raises(BadSetting, match="classes 0 to 2: negative, neutral, positive"):
        resolved(of)


def test_an_unknown_class_raises_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'positive'"):
        resolved("positiv")
    with pytest.raises(UnknownName, match="Did you mean 'neutral'"):
        resolved(("positive", "neutrall"))


def test_gold_without_a_label_raises():
    with pytest.raises(BadInput, match="has no label; use target='predicted'"):
        resolved("gold", examples=(Example(("one",), id="a"), EXAMPLES[1]))


@pytest.mark.parametrize(("label", "count"), (("neutral, positive", 2), ("", 0)))
def test_gold_of_several_labels_says_what_to_give(label, count):
    """A multi-label text has no one class to explain, nor has one without labels."""
    several = (Example(("one",), label=label, id="e"), EXAMPLES[1])
    with pytest.raises(BadInput, match=rf"'e' has {count} labels: '{label}'. Give target='predicted' or one of"):
        resolved("gold", examples=several, problem="multi_label")
    assert resolved("gold", examples=EXAMPLES, problem="multi_label").classes == (1, 0)


def test_a_gold_label_that_the_model_does_not_know_raises():
    with pytest.raises(UnknownName, match="'joy'"):
        resolved("gold", examples=(Example(("one",), label="joy"), EXAMPLES[1]))


def test_an_unknown_output_raises():
    with pytest.raises(BadSetting, match="output='odds' is not possible"):
        Target("positive", "odds")


@pytest.mark.parametrize("output", ("probability", "loss"))
def test_a_contrast_is_of_logits(output):
    with pytest.raises(BadSetting, match="give output='logit'"):
        Target(("positive", "negative"), output)
