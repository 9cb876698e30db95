"""What a comparison refuses: before any work what can be known then, and never by leaving texts out in silence."""

import pytest
import torch

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot
from tests.shared.cases import examples, model
from tests.shared.small_networks import Bag, words
from tests.shared.tiny import LABELS


class Overflowing(Bag):
    """Its logits are infinite where fewer than three words are left, as sums in float16 can be."""

    def forward(self, ids, attended):
        """[batch piece] -> [batch class]"""
        short = (attended.sum(1) < 3)[:, None]
        return super().forward(ids, attended).masked_fill(short, torch.inf)


def overflowing():
    network = Overflowing()
    return pellucid.from_network(network, tokenize=words, logits=network, embedding=network.embedding, labels=LABELS)


@pytest.mark.parametrize("metric", ("comprehensiveness", "sufficiency", "hiding"))
def test_infinite_logits_of_edited_texts_are_an_error_that_names_the_text(metric):
    texts = examples(("a long and winding text of many words", "four words are here"))
    with pytest.raises(ModelCannot, match=r"no finite number for .* example '[01]'.*another operator"):
        pellucid.compare(overflowing(), texts, ["gradient"], [metric], resamples=10, progress=False)


def test_infinite_logits_of_whole_texts_are_an_error_that_names_the_text():
    with pytest.raises(ModelCannot, match=r"no finite number for .* example '1'"):
        pellucid.accuracy(overflowing(), examples(("four words are here", "two words")))


class Counting:
    """The model, and how often its network ran."""

    def __init__(self, monkeypatch):
        self.model, self.passes = model(), 0
        run = type(self.model).trace

        def counted(*args, **kwargs):
            self.passes += 1
            return run(*args, **kwargs)

        monkeypatch.setattr(type(self.model), "trace", counted)


@pytest.mark.parametrize(
    ("methods", "metric", "sentence"),
    (
        (["gradient"], ("hiding", {"unit": "piece"}), r"hiding\(unit=piece\) .* a piece, .*chance .* a word"),
        ([("occlusion", {"unit": "sentence"})], "sufficiency", r"occlusion\(unit=sentence\) .* a sentence"),
        ([("lime", {"unit": "paragraph"})], ("hiding", {"unit": "sentence"}), "lime.* a paragraph"),
    ),
)
def test_a_unit_finer_than_the_scores_is_refused_before_any_work(methods, metric, sentence, monkeypatch):
    counting = Counting(monkeypatch)
    with pytest.raises(BadSetting, match=sentence):
        pellucid.compare(counting.model, examples(), methods, [metric], resamples=10, progress=False)
    assert counting.passes == 0


def test_pieces_are_judged_where_all_methods_score_them():
    table = pellucid.compare(
        model(),
        examples(),
        ["gradient", ("chance", {"unit": "piece"})],
        [("sufficiency", {"unit": "piece"})],
        resamples=10,
        progress=False,
    )
    assert len(table.cells) == 2
