"""In a large call the guard runs a sample as single texts: the longest and most padded ones, and those near a tie."""

from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import torch

from pellucid.base.errors import ParityBroken
from pellucid.run.parity import sample
from pellucid.text.example import as_examples
from tests.shared.asking import ask
from tests.shared.tiny import tiny_classifier

TEXTS = [" ".join(["a", "long", "and", "winding", "film"] * n) + "." for n in (1, 2, 3, 1, 4, 2, 5, 3)] * 4


@dataclass
class Counting:
    """A model that notes for which single texts it is called."""

    model: object
    called_with: list = field(default_factory=list)

    def __getattr__(self, name):
        return getattr(self.model, name)

    def plain_logits(self, example):
        self.called_with.append(example.text)
        return self.model.plain_logits(example)


@pytest.mark.parametrize("method", ("gradient", "occlusion"))
def test_a_small_call_is_checked_whole_and_a_large_one_in_part(method, bert):
    small, large = Counting(bert), Counting(bert)
    ask(small, TEXTS[:4], method)
    assert sorted(small.called_with) == sorted(TEXTS[:4])
    explanations = ask(large, TEXTS, method, budget=64)
    assert 2 <= len(large.called_with) < len(TEXTS) / 4
    assert max(TEXTS, key=len) in large.called_with
    residuals = [one.diagnostics[name] for one in explanations for name in one.diagnostics if "parity" in name]
    assert len(residuals) == len(TEXTS) and all(0 <= residual <= 1e-4 for residual in residuals)


def test_the_sample_holds_the_longest_row_and_the_most_padded_ones():
    lengths = [100, 99, 98, 60, 10, 9]
    packs = [[0, 1], [2, 3], [4, 5]]
    assert sample(packs, lengths, 200) == {0, 3}


def test_a_call_that_fits_one_pack_is_in_the_sample_whole():
    assert sample([[0, 1, 2]], [3, 2, 1], 9) == {0, 1, 2}
    assert sample([[0], [1, 2]], [30, 2, 1], 90) == {0, 1, 2}  # though less padding is cheaper
    assert sample([[0], [1, 2]], [30, 2, 1], 89) == {0, 2}
    assert sample([], [], 9) == frozenset()


def test_a_pack_that_holds_hundreds_of_texts_makes_no_small_call():
    assert sample([list(range(64))], [450] * 64, 32768) == {0}
    assert sample([[0, 1, 2]], [1000, 999, 998], 32768) == {0, 2}


def test_a_gpu_that_waits_for_single_texts_runs_fewer_of_them():
    packs, lengths = [list(range(900)), list(range(900, 1800))], [40, *[30] * 899, 20, *[10] * 899]
    assert (
        len(sample(packs, lengths, 40_000)) == 2 + 85
    )  # a fortieth of the pieces, less the 50 of the first two, 10 a text
    assert len(sample(packs, lengths, 40_000, alone=400)) == 2 + 2


def test_padded_rows_are_preferred_to_rows_alone():
    packs = [[n] for n in range(50)]
    assert sample(packs, [10] * 50, 10) == {0}


class FeelsPadding(torch.nn.Module):
    """A classifier that answers otherwise where there is padding."""

    def __init__(self, network):
        super().__init__()
        self.network, self.config = network, network.config
        self.forward = self._forward  # keeps the signature that is looked at
        self.get_input_embeddings = network.get_input_embeddings

    def _forward(self, input_ids, attention_mask, token_type_ids=None, position_ids=None):
        output = self.network(input_ids, attention_mask, token_type_ids, position_ids)
        output.logits = output.logits + 0.01 * (attention_mask == 0).sum(1, keepdim=True)
        return output


WORDS = ("a", "long", "and", "winding", "film") * 5
OF_ALL_LENGTHS = [" ".join(WORDS[:count]) for count in range(1, 24)]


def test_a_model_that_feels_padding_runs_without():
    model = tiny_classifier("bert")
    object.__setattr__(model, "network", FeelsPadding(model.network))
    for example, one in zip(
        as_examples(OF_ALL_LENGTHS), ask(model, OF_ALL_LENGTHS, "occlusion", budget=120), strict=True
    ):
        np.testing.assert_allclose(one.prediction.logits, model.plain_logits(example), atol=1e-5)


def test_a_model_that_feels_padding_since_its_trial_is_caught_in_a_large_call():
    model = tiny_classifier("bert")
    ask(model, OF_ALL_LENGTHS, "gradient", budget=120)
    assert set(model.packings.values()) == {"padded"}
    changed = replace(model, network=FeelsPadding(model.network))
    changed.packings.update(model.packings)  # tried before the network changed
    with pytest.raises(ParityBroken):
        ask(changed, OF_ALL_LENGTHS, "occlusion", budget=120)


def test_only_checked_texts_have_a_residual_of_their_own(bert):
    counting = Counting(bert)
    names = [name for one in ask(counting, TEXTS, "gradient", budget=64) for name in one.diagnostics]
    assert names.count("parity") == len(counting.called_with)
    assert names.count("parity_of_sample") == len(TEXTS) - len(counting.called_with)


def test_a_text_near_a_tie_is_checked_and_keeps_its_class(bert):
    model = tiny_classifier("bert")
    text = TEXTS[0]
    with torch.no_grad():  # lift the second class until both are as good as equal for this text
        logits = model.plain_logits(as_examples([text])[0])
        first, second = logits.topk(2).indices.tolist()
        model.network.classifier.bias[second] += logits[first] - logits[second]
    counting = Counting(model)
    explanations = ask(counting, TEXTS, "gradient", budget=64)
    near = [one for one in explanations if one.example.text == text]
    assert counting.called_with.count(text) == len(near)
    alone = ask(model, [text], "gradient")[0]
    for one in near:
        assert one.target.label == alone.target.label
        np.testing.assert_array_equal(one.prediction.logits, alone.prediction.logits)
