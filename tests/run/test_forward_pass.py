"""A forward pass at other points than the text's own: its gradients are torch's own, and impossible ones are
refused.
"""

import pytest
import torch

from pellucid.base.errors import BadSetting
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import ResolvedTarget
from pellucid.text.example import as_examples
from tests.shared.tiny import tiny_classifier

SHORT, LONG = "fine", "A gripping, lovely film."
POLICY = "cp"


@pytest.fixture(scope="module")
def model():
    """Attention as its library writes it out, so that torch can take gradients by the weights."""
    model = tiny_classifier("bert")
    model.network.set_attn_implementation("eager")
    return model


def pass_of(model, texts=(SHORT, LONG)):
    return ForwardPass(model, model.encode(as_examples(texts)), Scheduler(512))


def target_of(run, number=1):
    return ResolvedTarget((number,) * len(run.batch), None, "logit", run.model.problem)


def elsewhere(run):
    """A point away from the texts' own embeddings, the same in each run."""
    noise = torch.randn(run.embeddings.shape, generator=torch.Generator().manual_seed(3))
    return run.embeddings + 0.5 * noise * run.embeddings.std()


def literal(model, length, point, number=1):
    """(gradients by hidden states, gradients by attention weights) of a logit of one text, as torch gives them.

    point: [unit width], word embeddings of the text, its padding cut off.
    """
    point = point[None, :length].clone().requires_grad_()
    output = model.network(inputs_embeds=point, output_hidden_states=True, output_attentions=True)
    inputs = [*output.hidden_states, *output.attentions]
    gradients = torch.autograd.grad(output.logits[0, number], inputs, allow_unused=True)
    split = len(output.hidden_states)
    return [gradient[0] for gradient in gradients[:split]], [gradient[0] for gradient in gradients[split:]]


@pytest.mark.parametrize("layer", (0, 1, 2))
def test_at_another_point_the_gradient_by_a_layer_is_torchs_own(model, layer):
    run = pass_of(model)
    point = elsewhere(run)
    gradient = run.at(point).gradient(target_of(run), layer=layer)
    for example, length in enumerate(run.batch.lengths):
        expected = literal(model, length, point[example])[0][layer]
        torch.testing.assert_close(gradient[example, :length], expected, rtol=1e-4, atol=1e-6)
        assert not gradient[example, length:].any()


def test_at_another_point_the_attention_gradient_is_torchs_own(model):
    run = pass_of(model)
    point = elsewhere(run)
    gradient = run.at(point).attention_gradient(target_of(run))
    assert len(gradient) == model.n_layers
    for example, length in enumerate(run.batch.lengths):
        for block, expected in zip(gradient, literal(model, length, point[example])[1], strict=True):
            own = block[example, :, :length, :length]
            torch.testing.assert_close(own, expected, rtol=1e-4, atol=1e-6)


def test_at_the_texts_own_embeddings_the_attention_gradient_is_the_texts(model):
    run = pass_of(model)
    here, there = (one.attention_gradient(target_of(run)) for one in (run, run.at(run.embeddings)))
    assert len(here) == len(there) == model.n_layers
    for own, other in zip(here, there, strict=True):
        torch.testing.assert_close(other, own, rtol=1e-4, atol=1e-7)
        assert own.any()


def test_from_the_states_of_a_layer_on_the_gradient_is_torchs_own(model):
    run = pass_of(model)
    gradient = run.at(run.hidden[1], layer=1).gradient(target_of(run), layer=1)
    torch.testing.assert_close(gradient, run.gradient(target_of(run), layer=1), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("layer", (None, 0, 1))
def test_no_gradient_goes_below_the_layer_that_a_pass_starts_from(model, layer):
    run = pass_of(model)
    above = run.at(run.hidden[2], layer=2)
    with pytest.raises(BadSetting, match="starts from the states of layer 2; ask for the gradient by layer 2"):
        above.gradient(target_of(run), layer=layer)
    assert above.gradient(target_of(run), layer=2).any()


def test_gradients_under_a_policy_keep_the_ledger_apart(model):
    run = pass_of(model)
    under = run.under(POLICY)
    gradients = under.gradients(target_of(run))
    assert gradients.attention == ()  # the policy's pass does not open attention, and the ledger is no attention
    assert gradients.absorbed.keys() == under.ledger.shares.keys()
    assert all(absorbed.shape == (len(run.batch),) for absorbed in gradients.absorbed.values())
    assert len(gradients.hidden) == model.n_layers + 1
    assert gradients.embeddings.shape == run.embeddings.shape


def test_an_example_that_is_named_twice_is_in_the_pass_twice(model):
    run = pass_of(model)
    longer, shorter = 1, 0
    points = elsewhere(run)[[longer, shorter, longer]]
    points[2] *= 0.9
    part = run.of([longer, shorter, longer], points)
    examples = run.batch.examples
    assert part.batch.examples == (examples[longer], examples[shorter], examples[longer])
    gradients = part.gradient(target_of(part))
    for number, example in enumerate((longer, shorter, longer)):
        alone = run.of([example], points[[number]])
        length = run.batch.lengths[example]
        torch.testing.assert_close(part.logits[number], alone.logits[0], rtol=1e-4, atol=1e-5)
        expected = alone.gradient(target_of(alone))[0]
        assert expected.shape[0] == length  # padding beyond the longest named example is cut off
        torch.testing.assert_close(gradients[number, :length], expected, rtol=1e-4, atol=1e-6)
