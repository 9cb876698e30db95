"""What every registered penalty promises: a new file is tested because it exists. Nothing here names a penalty."""

import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.base.kinds import penalties, poolers
from pellucid.models.classifiers.running import Output
from pellucid.text.example import as_examples
from pellucid.training.objective import READS, check_fit, fits
from pellucid.training.training_loss import TrainingLoss
from tests.shared.tiny import tiny_composed

TEXTS = ("Fine", "A gripping, lovely film.", "Dull and long, and in the end not worth the evening.")


def fitting(name):
    """The poolers that give the penalty what it reads."""
    return [pooler for pooler in poolers.names() if fits(name, pooler)]


FITTING = [(name, pooler) for name in penalties.names() for pooler in fitting(name)]


def output_of(pooler, texts=TEXTS):
    """A network, and its output for some texts, in double precision."""
    torch.manual_seed(0)  # some networks draw which words they read
    classifier = tiny_composed(pooler)
    classifier.network.double().eval()
    rows = classifier.encode(as_examples(texts)).rows
    return classifier.network, classifier.network(**classifier.place(rows))


def values_of(name, output):
    entry = penalties.get(name)
    return entry.make(getattr(output, entry.facts["reads"]))


@pytest.mark.parametrize("name", penalties.names())
def test_it_reads_something_that_a_pooler_gives(name):
    assert penalties.get(name).facts["reads"] in READS
    assert fitting(name)


@pytest.mark.parametrize("pooler", poolers.names())
@pytest.mark.parametrize("name", penalties.names())
def test_it_fits_the_poolers_whose_output_it_can_read(name, pooler):
    _, output = output_of(pooler)
    if getattr(output, penalties.get(name).facts["reads"]) is not None:
        check_fit({name: 1.0}, pooler, {})
    else:
        message = f"The penalty {name} reads .*, which pooler={pooler!r} does not have"
        with pytest.raises(BadSetting, match=message):
            check_fit({name: 1.0}, pooler, {})


@pytest.mark.parametrize(("name", "pooler"), FITTING)
def test_it_gives_one_finite_number_a_text(name, pooler):
    values = values_of(name, output_of(pooler)[1])
    assert values.shape == (len(TEXTS),)
    assert values.isfinite().all()


@pytest.mark.parametrize(("name", "pooler"), FITTING)
def test_its_gradient_is_finite_and_reaches_what_it_reads(name, pooler):
    network, output = output_of(pooler)
    values_of(name, output).mean().backward()
    part = network.encoder if penalties.get(name).facts["reads"] == "states" else network.pooler
    gradients = [each.grad for each in part.parameters() if each.grad is not None]
    assert all(gradient.isfinite().all() for gradient in gradients)
    assert any(gradient.any() for gradient in gradients)


@pytest.mark.parametrize(("name", "pooler"), FITTING)
def test_the_number_of_a_text_depends_on_that_text_alone(name, pooler):
    """So that a batch in parts has the loss of the whole batch."""
    with torch.no_grad():
        together = values_of(name, output_of(pooler)[1])
        alone = torch.cat([values_of(name, output_of(pooler, [text])[1]) for text in TEXTS])
    torch.testing.assert_close(together, alone, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("name", "pooler"), FITTING)
def test_its_weight_scales_it_in_the_loss(name, pooler):
    _, output = output_of(pooler)
    gold = torch.zeros(len(TEXTS), dtype=torch.long)
    losses = [TrainingLoss("single_label", {name: weight}).loss(output, gold) for weight in (0.0, 0.5, 2.0)]
    mean = values_of(name, output).mean()
    assert losses[0] == TrainingLoss("single_label", {}).loss(output, gold)
    torch.testing.assert_close(torch.stack(losses[1:]) - losses[0], torch.stack([0.5 * mean, 2.0 * mean]))


@pytest.mark.parametrize("name", penalties.names())
def test_with_weight_0_it_asks_nothing_and_fits_every_pooler(name):
    """So a sweep over weights, or a call that removes the default, can say "none"."""
    for pooler in poolers.names():
        check_fit({name: 0.0}, pooler, {"weights": "uniform"})
    logits, gold = torch.tensor([[1.0, 0.0]]), torch.tensor([0])
    plain, zero = (TrainingLoss("single_label", weights) for weights in ({}, {name: 0.0}))
    assert zero.loss(Output(logits=logits), gold) == plain.loss(Output(logits=logits), gold)
