"""A concept as target: its activation is the one that the concept has, and every method explains it or says why not."""

from functools import cache, partial

import numpy as np
import pytest
import torch

import pellucid
from pellucid.base.errors import BadFile, BadSetting, PellucidError
from pellucid.base.kinds import attributions, discoveries
from pellucid.discovery import autoencoders
from pellucid.text.example import as_examples
from tests.hostile.command_line import run
from tests.shared.asking import FEW, ask, reads_states
from tests.shared.tiny import LABELS, save_tiny, tiny_classifier

TEXT = "A gripping, lovely film about dull people."
LAYER, CONCEPT = 2, 2
JUMPING = ("sae_batch_top_k", "sae_jump_relu")  # from 0 to a threshold, which no gradient tells of


@cache
def learnt(family, method="svd", level="word"):
    """A model in float64, and its concepts."""
    model = pellucid.load(tiny_classifier(family).network.double(), tiny_classifier(family).tokenizer)
    texts = [example.text for example in pellucid.examples("pocket", "train")[:40]]
    how = {"n": 4, "n_texts": 4, "method": method, "level": level, "progress": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(autoencoders, "STEPS", 100)
        return model, pellucid.find_concepts(model, texts, LAYER, **how)


def by_hand(model, concepts, embeddings):
    """The summed activation of a concept, by a hook on the library's own network."""
    inputs, states = model.tokenizer(TEXT, return_tensors="pt"), []
    blocks = model.network.base_model.encoder.layer
    changed = model.network.get_input_embeddings().register_forward_hook(lambda *call: embeddings)
    read = blocks[LAYER - 1].register_forward_hook(lambda *call: states.append(call[-1]))
    model.network(**inputs)
    changed.remove()
    read.remove()
    state = states[0][0][0] if isinstance(states[0], tuple) else states[0][0]
    total = torch.zeros((), dtype=torch.float64)
    encoder, offset = (
        torch.from_numpy(part).double() for part in (concepts.dictionary.encoder, concepts.dictionary.offset)
    )
    words = inputs.word_ids()
    for word in {word for word in words if word is not None}:
        pieces = [piece for piece, owner in enumerate(words) if owner == word]
        total = total + (state[pieces].mean(0) - offset) @ encoder[CONCEPT - 1]
    return total


@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_value_and_gradient_are_those_of_the_librarys_network_with_a_hook(family):
    model, concepts = learnt(family)
    inputs = model.tokenizer(TEXT, return_tensors="pt")
    words = model.network.get_input_embeddings()(inputs["input_ids"]).detach().requires_grad_()
    value = by_hand(model, concepts, words)
    (gradient,) = torch.autograd.grad(value, words)
    (explanation,) = pellucid.explain(model, [TEXT], "gradient", target=concepts.target(CONCEPT), progress=False)
    assert explanation.target.value == pytest.approx(value.item(), rel=1e-9)
    assert str(explanation.target) == f"hidden state: activation of concept {concepts.concepts[CONCEPT - 1].title}"
    np.testing.assert_allclose(explanation.scores, gradient[0].norm(dim=-1), rtol=1e-5)


@pytest.mark.parametrize("family", ["bert", "roberta"])
@pytest.mark.parametrize("method", [name for name in discoveries.names() if name not in JUMPING])
def test_integrated_gradients_add_up_to_the_concepts_rise(family, method):
    """By least squares the activation bends where another concept becomes active, so the sum needs more steps there."""
    model, concepts = learnt(family, method)
    how = {
        "target": concepts.target(CONCEPT),
        "n_steps": 400 if method in ("nmf", "semi_nmf") else 64,
        "progress": False,
    }
    (explanation,) = pellucid.explain(model, [TEXT], "integrated_gradients", **how)
    batch, readout = model.encode(as_examples([TEXT])), concepts.target(CONCEPT).readout
    blank = batch.edited(0, batch.units[0].content, "pad")
    rise = explanation.target.value - readout.answers(model.trace([blank], readout.want), [blank]).item()
    assert explanation.scores.sum() == pytest.approx(rise, abs=0.01 * max(abs(rise), 0.1))


@pytest.mark.parametrize("level", ["word", "piece", "text"])
@pytest.mark.parametrize("method", discoveries.names())
def test_the_value_is_the_activation_that_a_text_shows_and_largest_is_that_of_one_word(method, level):
    """A group has a step for an activation; its target is the way from the mean of all states to the group's centre."""
    model, concepts = learnt("bert", method, level)
    (shown,) = [concept for concept in pellucid.text_concepts(model, TEXT, concepts).concepts if concept.id == CONCEPT]
    value = partial(pellucid.explain, model, [TEXT], "gradient", progress=False)
    total, largest = (value(target=concepts.target(CONCEPT, over))[0].target.value for over in ("sum", "largest"))
    if method != "kmeans":
        assert total == pytest.approx(shown.activation, rel=1e-4, abs=1e-5)
    if level == "text":
        assert largest == total
    elif method != "kmeans":
        assert largest == pytest.approx(max(shown.where.scores), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("method", attributions.names())
def test_every_method_explains_a_concept_or_refuses_in_a_sentence(method, having, fresh, texts):
    model = having(method)
    if "hidden_states" not in model.capabilities:
        pytest.skip("the model of this method has no states")
    concepts = pellucid.find_concepts(model, texts, 1, n=3, n_texts=3, method="svd", progress=False)
    choice, target = (method, FEW.get(method, {})), concepts.target(1)
    if reads_states(method) or method == "information_bottleneck":
        with pytest.raises(BadSetting, match="explains"):
            ask(model, texts[:2], choice, target=target)
        return
    together = ask(model, texts[:3], choice, target=target)
    of_class = ask(model, texts[:3], choice)
    for text, explanation, other in list(zip(texts[:3], together, of_class, strict=True))[::-1]:
        (alone,) = ask(fresh(model), [text], choice, target=target)
        np.testing.assert_allclose(explanation.scores, alone.scores, atol=1e-5 * max(1.0, np.abs(alone.scores).max()))
        if attributions.get(method).facts["of_class"] and method != "preservation_mask":
            assert not np.allclose(explanation.scores, other.scores), "the concept is explained, not the class"


def test_words_that_an_edit_leaves_out_add_nothing():
    model, concepts = learnt("bert")
    readout = concepts.target(CONCEPT).readout
    batch = model.encode(as_examples([TEXT]))
    for row, count in ((batch.edited(0, batch.units[0].content, "absent"), 0), (batch.rows[0], 1)):
        answer = readout.answers(model.trace([row], readout.want), [row])
        assert bool(answer.abs().max()) == bool(count)


def test_a_concept_of_another_model_or_number_is_refused():
    model, concepts = learnt("bert")
    other, _ = learnt("roberta")
    with pytest.raises(BadFile, match="with other weights"):
        pellucid.explain(other, [TEXT], "gradient", target=concepts.target(1), progress=False)
    for bad in (0, 5, 1.5, "one", True):
        with pytest.raises(BadSetting, match="from 1 to 4"):
            concepts.target(bad)
    with pytest.raises(BadSetting, match="over="):
        concepts.target(1, "mean")
    with pytest.raises(BadSetting, match="no probability"):
        pellucid.explain(model, [TEXT], "gradient", target=concepts.target(1), output="loss", progress=False)
    with pytest.raises(PellucidError, match="give a class"):
        pellucid.explain(model, [TEXT], "gradient", target=concepts, progress=False)


def test_the_command_explains_a_concept_and_needs_both_options(tmp_path):
    save_tiny(tmp_path / "model", labels=LABELS)
    texts = [example.text for example in pellucid.examples("pocket", "train")[:40]]
    folder, out = str(tmp_path / "model"), str(tmp_path / "concepts")
    pellucid.find_concepts(folder, texts, 1, n=3, n_texts=3, out=out, progress=False)
    command = ["explain", folder, TEXT, "--method", "occlusion"]
    status, printed, err = run([*command, "--concept", "2", "--learnt", out])
    assert status == 0, err
    assert "activation of concept 2" in " ".join(printed.split())
    for more, sentence in (
        (["--concept", "2"], "give both"),
        (["--learnt", out], "give both"),
        (["--concept", "2", "--learnt", out, "--layer", "1"], "different targets"),
        (["--concept", "9", "--learnt", out], "from 1 to 3"),
    ):
        status, _, err = run([*command, *more])
        assert status == 2 and sentence in " ".join(err.split())
