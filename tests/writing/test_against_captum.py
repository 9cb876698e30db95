"""Gradients and taken-out words of a language model are those of captum's attribution for language models.

captum explains each written piece by the pieces of the prompt; a word of ours has the sum over its pieces.
"""

import numpy as np
import pytest
import torch
from captum.attr import FeatureAblation, LayerGradientXActivation, LLMAttribution, LLMGradientAttribution
from captum.attr import TextTokenInput as Pieces

import pellucid
from pellucid.text.example import as_examples
from tests.shared.tiny_writing import tiny_writing

PAIR = ("A good film about a dog.", " A fine story, well told.")


@pytest.fixture(scope="module")
def model():
    return tiny_writing("gpt2")


@pytest.fixture(scope="module")
def halves(model):
    """Numbers of the prompt's pieces, and of those that are written."""
    row = model.encode(as_examples([PAIR])).rows[0]
    written = [piece for piece, id in enumerate(row.written) if id >= 0]
    return list(range(written[0])), written


def by_words(model, method, **settings):
    """The explanation: a row for each word."""
    (one,) = pellucid.explain(model, [PAIR], method, progress=False, **settings)
    return one


def captums(model, attribution):
    """[written piece, piece of the prompt] by captum."""
    prompt = Pieces(PAIR[0], model.tokenizer, skip_tokens=[])
    target = torch.tensor(model.tokenizer(PAIR[1])["input_ids"])
    settings = {"use_cached_outputs": False} if isinstance(attribution, LLMAttribution) else {}
    return attribution.attribute(prompt, target, **settings).token_attr.detach().numpy()


def words_of(model):
    """For each word the numbers of its pieces among those that are written."""
    batch = model.encode(as_examples([PAIR]))
    return [word.pieces for word in pellucid.Word().resolve(batch, model).words[0]]


def test_gradients_times_embeddings(model, halves):
    layer = LayerGradientXActivation(model.network, model.network.transformer.wte)
    theirs = captums(model, LLMGradientAttribution(layer, model.tokenizer))
    ours = by_words(model, "gradient_x_input")
    for row, pieces in enumerate(words_of(model)):
        expected = theirs[list(pieces)].sum(0)
        np.testing.assert_allclose(ours.scores[row, halves[0]], expected, rtol=1e-3, atol=1e-4)


def test_pieces_that_are_covered(model, halves):
    """captum writes its baseline, id 0, over a piece; so does ours where that is the padding token."""
    theirs = captums(model, LLMAttribution(FeatureAblation(model.network), model.tokenizer))
    ours = by_words(model, "occlusion", unit="piece", operator="pad")
    assert model.blank_ids()["pad"] == 0
    for row, pieces in enumerate(words_of(model)):
        expected = theirs[list(pieces)].sum(0)
        np.testing.assert_allclose(ours.scores[row, halves[0]], expected, rtol=1e-3, atol=1e-4)
