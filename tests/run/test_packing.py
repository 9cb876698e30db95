"""Rows share a pass only where that changes no answer, which a trial finds out for each model."""

import numpy as np
import pytest
import torch
from torch import nn

import pellucid
from pellucid.base.errors import ParityBroken
from pellucid.run.packing import packing_of, scheduler_for
from pellucid.run.scheduler import Scheduler, evaluate_rows
from pellucid.text.example import as_examples
from tests.shared.asking import ask
from tests.shared.small_networks import Bag, Convolutional, Recurrent, words
from tests.shared.tiny import FAMILIES, LABELS, tiny_classifier, tiny_composed

TEXTS = [" ".join(f"word{(seed * 7 + n * 13) % 97}" for n in range(1 + seed % 17)) for seed in range(60)]


class MaxOverPadding(Bag):
    """Filters whose largest answer is taken over all positions, padding among them."""

    def __init__(self, n_channels: int = 2, seed: int = 0) -> None:
        torch.manual_seed(seed)
        super().__init__()
        self.filters = nn.Conv1d(8, n_channels, 3, padding=1)
        self.head = nn.Linear(n_channels, len(LABELS))

    def forward(self, ids, attended):
        return self.head(self.filters(self.embedding(ids).transpose(1, 2)).amax(2))


class MaxOverBlankedPadding(MaxOverPadding):
    """The same, with vectors of padding set to 0: noise there changes nothing, but the filters' biases do."""

    def forward(self, ids, attended):
        vectors = self.embedding(ids) * attended[..., None]
        return self.head(self.filters(vectors.transpose(1, 2)).amax(2))


class RunsOn(Recurrent):
    """An LSTM that reads its padding too."""

    def forward(self, ids, attended):
        return self.head(self.lstm(self.embedding(ids))[0][:, -1])


class Centred(Bag):
    """Answers minus the mean of the batch: they depend on neighbours."""

    def forward(self, ids, attended):
        logits = super().forward(ids, attended)
        return logits - 0.1 * logits.mean(0)


def model_of(network, **settings):
    network.eval()
    settings = {"embedding": network.embedding} | settings
    return pellucid.from_network(network, tokenize=words, logits=network, labels=LABELS, **settings)


def tried(model, texts=TEXTS):
    return packing_of(model, model.encode(as_examples(texts)).rows, 640)


@pytest.mark.parametrize("network", (Bag, Convolutional, Recurrent))
def test_networks_that_leave_padding_alone_are_padded(network):
    assert tried(model_of(network())) == "padded"


@pytest.mark.parametrize("kind", (*FAMILIES, "span", "first_token", "mean"))
def test_every_family_is_padded(kind, texts):
    assert tried(tiny_classifier(kind) if kind in FAMILIES else tiny_composed(kind), texts) == "padded"


@pytest.mark.parametrize("blind", (False, True))
@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("network", (MaxOverPadding, MaxOverBlankedPadding))
def test_a_network_that_reads_padding_gets_rows_of_one_length(network, seed, blind):
    model = model_of(network(seed=seed))
    assert tried(model_of(model.network, embedding=None) if blind else model) == "equal"


def test_a_network_that_runs_on_or_reads_its_neighbours_is_noticed():
    assert tried(model_of(RunsOn())) == "equal"
    assert tried(model_of(Centred())) == "alone"


def test_a_function_that_reads_its_neighbours_gets_texts_one_by_one():
    def predict(texts):
        longest = max(map(len, texts))
        chances = [1 / (2 + longest - len(text)) for text in texts]
        return [[chance, 1 - chance] for chance in chances]

    assert tried(pellucid.from_function(predict, ["a", "b"])) == "alone"
    assert tried(pellucid.from_function(lambda texts: [[0.5, 0.5] for _ in texts], ["a", "b"])) == "padded"


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("method", ("shapley_sampling", "lime", "occlusion", "integrated_gradients"))
def test_edited_texts_get_the_answers_that_they_get_alone(method, seed):
    """A text's scores from packs of any size are those of one row a pass."""
    texts = TEXTS[seed + 8 : seed + 10]
    network = MaxOverPadding(seed=seed)
    packed = ask(model_of(network), texts, method, budget=640)
    single = ask(model_of(network), texts, method, budget=1)
    for one, other in zip(packed, single, strict=True):
        np.testing.assert_allclose(one.scores, other.scores, atol=1e-5 * np.abs(other.scores).max())


@pytest.mark.parametrize("seed", range(10))
def test_every_text_of_a_large_call_has_its_own_answer(seed):
    model = model_of(MaxOverPadding(seed=seed))
    examples = as_examples(TEXTS)
    for example, one in zip(examples, ask(model, TEXTS, "gradient", budget=64), strict=True):
        np.testing.assert_allclose(one.prediction.logits, model.plain_logits(example), atol=1e-5)


def test_a_trial_runs_once_for_a_model_and_a_size():
    model = model_of(Bag())
    counts = []
    handle = model.network.embedding.register_forward_hook(lambda *_: counts.append(1))
    tried(model)
    first = len(counts)
    assert tried(model) == "padded" and len(counts) == first > 1
    handle.remove()


def test_one_row_a_pass_needs_no_trial():
    model = model_of(MaxOverPadding())
    ask(model, TEXTS[:1], "gradient")
    assert not model.packings


def test_edited_rows_run_again_alone():
    """Without a trial, the most padded rows of a call still show that a network reads padding."""
    model = model_of(RunsOn())
    rows = model.encode(as_examples(TEXTS)).rows
    with pytest.raises(ParityBroken, match="beside longer texts"):
        evaluate_rows(model, Scheduler(640), rows)
    assert len(evaluate_rows(model, scheduler_for(model), rows)) == len(rows)


def test_asking_again_costs_a_fortieth():
    model = model_of(Bag())
    scheduler = Scheduler(640)
    evaluate_rows(model, scheduler, model.encode(as_examples(TEXTS * 20)).rows)
    lengths = [len(text.split()) for text in TEXTS]
    assert 0 < scheduler.tokens_checked <= scheduler.tokens_run / 40 + max(lengths) + 640 / 12
