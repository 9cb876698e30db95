"""The loss is the labels' cross-entropy plus each weighted penalty, and wrong labels are named."""

import pytest
import torch

from pellucid.base.errors import BadInput, BadSetting, UnknownName
from pellucid.base.kinds import penalties
from pellucid.models.classifiers.running import Output
from pellucid.text.example import Example, as_examples
from pellucid.training.recipe import Recipe
from pellucid.training.training_loss import TrainingLoss, gold_numbers
from tests.shared.tiny import tiny_composed

LABELS = ("negative", "neutral", "positive")
LOGITS = torch.tensor([[1.0, 2.0, -1.0], [0.5, 0.0, 0.0]])


def labelled(*labels):
    return [Example(("text",), label=label, id=f"e{number}") for number, label in enumerate(labels)]


def test_single_labels_have_the_mean_negative_log_probability():
    loss = TrainingLoss("single_label", {}).loss(Output(logits=LOGITS), torch.tensor([1, 0]))
    chances = LOGITS.softmax(-1)
    assert float(loss) == pytest.approx(float(-(chances[0, 1].log() + chances[1, 0].log()) / 2))


def test_multi_labels_have_one_binary_loss_a_class():
    gold = torch.tensor([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    chances = LOGITS.sigmoid()
    expected = -(gold * chances.log() + (1 - gold) * (1 - chances).log()).sum(-1)
    torch.testing.assert_close(TrainingLoss("multi_label", {}).label_loss(LOGITS, gold), expected)


@pytest.mark.parametrize(
    "weights", ({"concentration": 1.5}, {"entropy": 0.1, "concentration": 0.5}, {"divergence": 2.0})
)
def test_penalties_are_added_with_their_weights(weights, texts):
    classifier = tiny_composed("span")
    rows = classifier.encode(as_examples(texts)).rows
    gold = torch.tensor([0, 1, 2, 1, 0])
    with torch.no_grad():
        output = classifier.network(**classifier.place(rows))
        expected = TrainingLoss("single_label", {}).loss(output, gold)
        for name, weight in weights.items():
            expected = expected + weight * penalties.get(name).make(output.spans).mean()
        loss = TrainingLoss("single_label", weights).loss(output, gold)
    assert float(loss) == pytest.approx(float(expected), rel=1e-6)


def test_gold_numbers_follow_the_order_of_the_classes():
    assert gold_numbers(labelled("positive", "negative"), LABELS, "single_label").tolist() == [2, 0]


def test_gold_of_several_labels_is_one_column_a_class():
    gold = gold_numbers(labelled("positive, negative", "", "neutral"), LABELS, "multi_label")
    assert gold.tolist() == [[1, 0, 1], [0, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("wrong", (None, "joy", "Positive", ""))
def test_labels_that_are_no_classes_are_named(wrong):
    with pytest.raises(
        BadInput,
        match=r"1 of 2 given examples are of no class among negative, neutral, positive; the first is 'e1'",
    ):
        gold_numbers(labelled("positive", wrong), LABELS, "single_label")


@pytest.mark.parametrize("wrong", (None, "postive, neutral"))
def test_of_several_labels_everyone_has_to_be_a_class(wrong):
    with pytest.raises(BadInput, match=r"1 of 2 given examples are of no class among .*; the first is 'e1'"):
        gold_numbers(labelled("positive, neutral", wrong), LABELS, "multi_label")


@pytest.mark.parametrize(
    "wrong",
    (
        {"epochs": 0},
        {"epochs": 2.5},
        {"batch_size": 16.5},
        {"seed": "0"},
        {"warmup": "0.1"},
        {"warmup": True},
        {"batch_size": 0},
        {"checkpoint_every": 0},
        {"learning_rate": -1.0},
        {"learning_rate": float("nan")},
        {"warmup": 1.5},
        {"precision": "float16"},
        {"seed": -1},
        {"penalties": {"concentration": -1.0}},
    ),
    ids=str,
)
def test_a_recipe_that_makes_no_sense_raises(wrong):
    with pytest.raises(BadSetting):
        Recipe(**wrong)


def test_an_unknown_penalty_raises_with_the_nearest():
    with pytest.raises(UnknownName, match="Did you mean 'concentration'"):
        Recipe(penalties={"concentraton": 1.0})
