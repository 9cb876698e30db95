"""A translator of LSTMs: as written out, with gaps as if the pieces were not there, and searches that go on from
states.
"""

import pytest
import torch

import pellucid
from pellucid.models.translation.source_spans import SpanSettings
from pellucid.models.translation.translator_folder import add_source_spans
from pellucid.models.translation.untrained_network import LstmSettings, untrained_lstm
from pellucid.text.example import Example
from tests.reference.lstm_translator import decoded, encoded
from tests.writing.conftest import PAIRS

pytestmark = pytest.mark.whole

SOURCE, TARGET = [7, 3, 9, 4, 1], [0, 5, 8, 6]


@pytest.fixture(scope="module")
def network():
    return untrained_lstm(LstmSettings(layers=2, width=12, dropout=0.0), 20, 0).eval()


@torch.no_grad()
def logits(network, source=SOURCE, target=TARGET, read=None, written=None):
    """Of every place of the target; read, written: which pieces may be read."""
    return network(
        input_ids=torch.tensor([source]),
        decoder_input_ids=torch.tensor([target]),
        attention_mask=None if read is None else torch.tensor([read]),
        decoder_attention_mask=None if written is None else torch.tensor([written]),
    ).logits[0]


@torch.no_grad()
def test_it_computes_what_is_written_out(network):
    states = network.encoder(torch.tensor([SOURCE])).last_hidden_state[0]
    torch.testing.assert_close(states, torch.stack(encoded(network, SOURCE)), rtol=1e-5, atol=1e-6)
    expected = decoded(network, SOURCE, TARGET) @ network.shared.weight.T
    torch.testing.assert_close(logits(network), expected, rtol=1e-4, atol=1e-5)


def test_a_piece_that_is_not_read_is_as_if_it_were_not_there(network):
    whole = logits(network, SOURCE[:1] + SOURCE[2:])
    torch.testing.assert_close(logits(network, read=[1, 0, 1, 1, 1]), whole)
    padded = logits(network, [*SOURCE, 0, 0], read=[1, 1, 1, 1, 1, 0, 0])
    torch.testing.assert_close(padded, logits(network))
    gap = logits(network, written=[1, 0, 1, 1])
    shorter = logits(network, target=[TARGET[0], *TARGET[2:]])
    torch.testing.assert_close(gap[[0, 2, 3]], shorter)
    torch.testing.assert_close(gap[1], gap[0])  # its place writes from what was read before it


def test_later_pieces_change_no_earlier_place(network):
    changed = logits(network, target=[*TARGET[:3], 2])
    torch.testing.assert_close(changed[:3], logits(network)[:3], rtol=0, atol=0)
    assert not torch.equal(changed[3], logits(network)[3])


@torch.no_grad()
@pytest.mark.parametrize("spans", [False, True])
def test_going_on_from_states_is_reading_all_again(spans):
    network = untrained_lstm(LstmSettings(layers=2, width=12, dropout=0.0), 20, 0).eval()
    if spans:
        add_source_spans(network, SpanSettings())
    states, steps = None, []
    for piece in TARGET:
        out = network(
            input_ids=torch.tensor([SOURCE]),
            decoder_input_ids=torch.tensor([[piece]]),
            past_key_values=states,
            use_cache=True,
        )
        states = out.past_key_values
        steps.append(out.logits[0, 0])
    torch.testing.assert_close(torch.stack(steps), logits(network), rtol=1e-5, atol=1e-6)


def test_beams_keep_their_states(learnt_lstm):
    """A search with states finds what one finds that reads every beginning again."""
    model = pellucid.load(learnt_lstm)
    for source in ("a dog sees the beach", "the man sleeps and runs"):
        ids = torch.tensor([model.tokenizer(source)["input_ids"]])
        settings = {"num_beams": 4, "do_sample": False, "max_new_tokens": 12, "pad_token_id": 0}
        with torch.no_grad():
            fast, slow = (
                model.network.generate(ids, use_cache=cached, **settings).tolist() for cached in (True, False)
            )
        assert fast == slow and len(fast[0]) > 3


def test_occlusion_takes_words_out_of_both_texts(learnt_lstm):
    explanation = pellucid.explain(learnt_lstm, Example(PAIRS[4]), "occlusion")[0]
    words = explanation.row("3 rennt").words()
    scores = dict(zip(words.units.labels, words.scores.ravel().tolist(), strict=True))
    assert scores["am"] == scores["Strand"] == scores["rennt"] == 0
    assert scores["runs"] > 0
