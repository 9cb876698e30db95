"""Hidden pieces: how many, what stands in their places, and that the draws hang on the row alone."""

import torch

from pellucid.text.example import as_examples
from pellucid.training.objectives.masked_words import Masking, content_of
from tests.shared.tiny import tiny_classifier

MODEL = tiny_classifier()
TEXT = " ".join(["the film was fine and the actors were good"] * 6)
ROW = MODEL.encode(as_examples([TEXT])).rows[0]
MASK = MODEL.blank_ids()["mask"]


def masking(mask=MASK, share=0.15, seed=0):
    return Masking(share, mask, MODEL.vocabulary, seed)


def test_the_share_of_the_text_is_hidden_and_nothing_else_changes():
    for reading in range(5):
        row, hidden = masking().masked(ROW, reading)
        assert len(hidden) == round(0.15 * len(content_of(ROW))) and set(hidden) <= set(content_of(ROW))
        assert all(row.ids[n] == ROW.ids[n] for n in range(len(ROW)) if n not in hidden)
        assert (row.positions, row.word_index, row.segments) == (ROW.positions, ROW.word_index, ROW.segments)


def test_thirty_ten_sixty():
    masked = others = same = 0
    for reading in range(400):
        row, hidden = masking().masked(ROW, reading)
        for piece in hidden:
            masked += row.ids[piece] == MASK
            same += row.ids[piece] == ROW.ids[piece]
            others += row.ids[piece] not in (MASK, ROW.ids[piece])
    total = masked + others + same
    assert abs(masked / total - 0.3) < 0.02 and abs(others / total - 0.1) < 0.02 and abs(same / total - 0.6) < 0.02


def test_without_a_mask_token_other_pieces_stand_there():
    row, hidden = masking(mask=None, share=0.5).masked(ROW, 0)
    assert sum(row.ids[piece] != ROW.ids[piece] for piece in hidden) > 0.3 * len(hidden)
    assert set(row.ids) <= {*MODEL.vocabulary.tolist(), *ROW.ids}


def test_the_draws_depend_on_row_reading_and_seed():
    torch.manual_seed(1)
    before = torch.get_rng_state()
    first = masking().masked(ROW, 3)
    assert masking().masked(ROW, 3) == first
    assert masking().masked(ROW, 4) != first and masking(seed=1).masked(ROW, 3) != first
    assert torch.equal(torch.get_rng_state(), before)


def test_at_least_one_piece_is_hidden():
    row = MODEL.encode(as_examples(["fine film"])).rows[0]
    assert len(masking(share=0.01).masked(row, 0)[1]) == 1
