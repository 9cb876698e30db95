"""Rows as a network's columns, against a literal re-writing: one entry after another."""

from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from pellucid.models.classifiers.running import collate
from pellucid.run.batch import Row

PAD, FIRST, NOTHING = 7, 2, -1
NAMES = {
    "input_ids": ("ids", PAD),
    "token_type_ids": ("types", 0),
    "word_index": ("word_index", NOTHING),
    "segments": ("segments", NOTHING),
    "sentences": ("sentences", NOTHING),
    "content": ("content", NOTHING),
}


@st.composite
def rows(draw):
    """A row with gaps, some of them with sentences."""
    length = draw(st.integers(1, 6))
    column = lambda least: tuple(draw(st.lists(st.integers(least, 9), min_size=length, max_size=length)))  # noqa: E731
    whole = Row(column(0), column(0), tuple(range(length)), column(-1), column(-1))
    if draw(st.booleans()):
        whole = replace(whole, sentences=column(-1), content=column(-1), numbers=tuple(range(length)))
    return whole.keep(sorted(draw(st.sets(st.integers(0, length - 1), min_size=1))))


@given(st.lists(rows(), min_size=1, max_size=4), st.booleans())
def test_columns_are_those_of_a_loop_over_every_piece(some, spread):
    some = [*some, some[0]]  # the points of a path repeat one row
    columns = collate(some, pad=PAD, first_position=FIRST, spread=spread, device=torch.device("cpu"))
    slots = [row.positions if spread else range(len(row)) for row in some]
    width = max(max(slot) for slot in slots) + 1
    there = [[int(place in slot) for place in range(width)] for slot in slots]
    for name, (own, filling) in NAMES.items():
        if not any(getattr(row, own) for row in some):
            assert name not in columns
            continue
        expected = [[filling] * width for _ in some]
        for line, slot, row in zip(expected, slots, some, strict=True):
            for place, value in zip(slot, getattr(row, own), strict=False):  # some rows have no sentences
                line[place] = value
        assert columns[name].tolist() == expected
        assert columns[name].dtype == torch.long and columns[name].is_contiguous()
    assert columns["attention_mask"].tolist() == there
    assert columns["decoder_attention_mask"].tolist() == [[1, *line[:-1]] for line in there]
    positions = [[FIRST] * width for _ in some]
    for line, slot, row in zip(positions, slots, some, strict=True):
        for place, value in zip(slot, row.positions, strict=True):
            line[place] = FIRST + value
    assert columns["position_ids"].tolist() == positions


@pytest.mark.parametrize("spread", (False, True))
def test_a_row_without_pieces_is_padding(spread):
    empty = Row((1,), (0,), (0,), (0,), (0,)).keep([])
    columns = collate([empty], pad=PAD, first_position=FIRST, spread=spread, device=torch.device("cpu"))
    assert columns["input_ids"].tolist() == [[PAD]] and columns["attention_mask"].tolist() == [[0]]
