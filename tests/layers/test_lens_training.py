"""A lens learns to name pieces, no layer is worse with it, and the model stays as it was."""

import math

import numpy as np
import pytest
import torch

from pellucid.base.errors import BadInput, BadSetting, ModelCannot
from pellucid.data.load import load_examples
from pellucid.layers.lens_translators import FrozenStates, HeadLoss, lens_rows, lens_table, share_over_rows
from pellucid.models.classifiers.function import from_function
from pellucid.models.language_heads.lens import Translators
from pellucid.models.language_heads.masked_head import MaskedHead, word_vectors_of
from pellucid.text.example import as_examples
from pellucid.training.objectives.masked_words import Masking, content_of
from tests.shared.tiny import tiny_classifier, tiny_composed, tiny_on_vectors
from tests.shared.tiny_lens import trained_lens

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def learned(tmp_path_factory):
    """A tiny model and its lens after some steps on a small corpus."""
    model = tiny_classifier()
    parts = {part: load_examples("pocket", part)[:size] for part, size in (("train", 120), ("dev", 12))}
    steps = {"head_steps": 80, "translator_steps": 40, "batch_size": 16}
    return model, trained_lens(tmp_path_factory.mktemp("lens"), model=model, parts=parts, **steps)


def test_the_last_layer_is_named_above_chance(learned):
    _, lens = learned
    last = lens.record.table.layers[-1]
    assert last.recovery.low > 0.1 > 20 / lens.n_tokens and last.kl == pytest.approx(0, abs=1e-6)


def test_no_layer_is_below_the_bare_head(learned):
    _, lens = learned
    for one in lens.record.table.layers:
        assert one.recovery.mean >= one.bare_recovery.mean and one.kl <= one.bare_kl
        assert one.translated == (one.layer in lens.translators)


ORDER = torch.randperm(32, generator=torch.Generator().manual_seed(0))
TURN = torch.eye(32)[ORDER]


class TurnedStates(FrozenStates):
    """In the layers below the last, the last layer's states with their numbers in another order, or in the same."""

    turn = TURN

    def of_pieces(self, rows, pieces, layers):
        states = super().of_pieces(rows, pieces, layers)
        return [*(states[-1] @ self.turn.T for _ in states[:-1]), states[-1]]


class EqualStates(TurnedStates):
    turn = torch.eye(32)


@pytest.mark.parametrize(
    "states, weight, better",
    ((TurnedStates, TURN.T, True), (EqualStates, TURN.T, False), (EqualStates, torch.eye(32), False)),
    ids=("undoes", "spoils", "does nothing"),
)
def test_a_translator_is_used_only_where_it_is_better(learned, states, weight, better):
    model, lens = learned
    rows = lens_rows(model, load_examples("pocket", "dev")[:4], 128, "dev")
    translators = Translators(lens.record.widths)
    for translator in translators.of_layer:
        translator.weight.data = weight.contiguous()
    table = lens_table(lens.head, translators, states(model), rows, lambda *_: None)
    assert [one.translated for one in table.layers] == [better] * 3 + [False]
    for one in table.layers[:-1]:
        assert one.kl == pytest.approx(0, abs=1e-4) and (one.bare_kl > 0.01) == better


def test_the_loss_of_the_head_falls():
    model = tiny_classifier()
    rows = lens_rows(model, load_examples("pocket", "train")[:16], 128, "train")
    head = MaskedHead(32, word_vectors_of(model))
    loss = HeadLoss(head, FrozenStates(model), Masking(0.15, model.blank_ids()["mask"], model.vocabulary, 0))
    optimizer = torch.optim.AdamW(head.parameters(), lr=1e-2)
    losses = []
    for _ in range(20):
        optimizer.zero_grad()
        losses.append(loss.backward(rows, 0))
        optimizer.step()
    assert losses[-1] < 0.8 * losses[0]


def test_slices_change_no_gradient(monkeypatch):
    model = tiny_classifier()
    rows = lens_rows(model, load_examples("pocket", "train")[:4], 128, "train")
    head = MaskedHead(32, word_vectors_of(model))
    loss = HeadLoss(head, FrozenStates(model), Masking(0.15, model.blank_ids()["mask"], model.vocabulary, 0))
    whole = loss.backward(rows, 0)
    gradient = head.dense.weight.grad.clone()
    head.zero_grad()
    monkeypatch.setattr("pellucid.models.language_heads.masked_head.NUMBERS", 3 * head.n_tokens)
    assert loss.backward(rows, 0) == pytest.approx(whole, abs=1e-5)
    assert (head.dense.weight.grad - gradient).norm() < 1e-5 * gradient.norm()


def test_the_model_is_not_changed(learned):
    model, _ = learned
    assert model.hash == tiny_classifier().hash
    assert all(parameter.grad is None for parameter in model.network.parameters())


def test_layers_of_other_widths_have_no_bare_head(tmp_path):
    model = tiny_on_vectors("bilstm")
    lens = trained_lens(tmp_path, model=model)
    first, last = lens.record.table.layers
    assert lens.record.widths == (384, 16) and lens.record.vector_width == 384
    assert first.bare_recovery is None and first.translated and last.bare_recovery == last.recovery


def test_a_model_without_states_is_refused(tmp_path):
    function = from_function(lambda texts: [[0.5, 0.5] for _ in texts], ["a", "b"])
    for model in (function, tiny_composed("span", max_length=512, positions=64)):
        with pytest.raises(ModelCannot, match=r"nothing for a lens to read .*give a model"):
            trained_lens(tmp_path / "out", model=model)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("texts", ([], ["a"], ["a", "b"]))
@pytest.mark.parametrize("part", ("train", "dev"))
def test_texts_of_which_nothing_can_be_hidden_are_refused(tmp_path, part, texts):
    good = as_examples(["a fine film"])
    parts = {"train": good, "dev": good, part: as_examples(texts)}
    with pytest.raises(BadInput, match=f"The {part} part has no text of 2 pieces or more"):
        trained_lens(tmp_path / "out", parts=parts)
    assert not (tmp_path / "out").exists()


def test_a_rate_under_which_it_diverges_is_named(tmp_path):
    model = tiny_classifier()
    with torch.no_grad():
        model.network.bert.encoder.layer[2].output.LayerNorm.weight.fill_(math.inf)
    with pytest.raises(BadSetting, match="Training the head diverged at step 1; give less than learning_rate"):
        trained_lens(tmp_path, model=model)


def test_long_texts_are_cut_between_words_and_to_what_the_model_reads():
    model = tiny_classifier()
    text = " ".join(f"fine film {number}" for number in range(100))
    long = lens_rows(model, as_examples([text]), 1000, "train")
    short = lens_rows(model, as_examples([text]), 20, "train")
    assert max(map(len, long)) <= 128 < sum(map(len, long)) and max(map(len, short)) <= 20
    seen = {row.own_numbers[piece] for row in short for piece in content_of(row)}
    whole = model.encode(as_examples([text])).rows[0]
    assert seen == set(content_of(whole))


def test_the_interval_is_over_texts():
    same = share_over_rows(np.array([5, 5, 5, 5]), np.array([10, 10, 10, 10]))
    unequal = share_over_rows(np.array([10, 10, 0, 0]), np.array([10, 10, 10, 10]))
    assert (same.low, same.mean, same.high) == (0.5, 0.5, 0.5)
    assert unequal.mean == 0.5 and unequal.low < 0.2 and unequal.high > 0.8
