"""Rows and their edits: four ways to take a piece out, and a digest that differs for different rows."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.run.batch import OPERATORS, Row, SpecialIds, edit, edits
from pellucid.text.example import as_examples

ROW = Row(
    ids=(2, 10, 11, 12, 3),
    types=(0, 0, 0, 1, 1),
    positions=(0, 1, 2, 3, 4),
    word_index=(-1, 0, 1, 1, -1),
    segments=(-1, 0, 0, 1, -1),
)
SPECIAL = SpecialIds(mask=4, pad=0)


def test_absent_leaves_the_others_where_they_were():
    row = edit(ROW, [1, 2], "absent", SPECIAL)
    assert row == Row((2, 12, 3), (0, 1, 1), (0, 3, 4), (-1, 1, -1), (-1, 1, -1))


def test_delete_closes_the_positions():
    row = edit(ROW, [1, 2], "delete", SPECIAL)
    assert row == Row((2, 12, 3), (0, 1, 1), (0, 1, 2), (-1, 1, -1), (-1, 1, -1))


def test_pieces_keep_their_numbers_when_gaps_close():
    closed = edit(ROW, [1, 2], "delete", SPECIAL)
    assert closed.own_numbers == (0, 3, 4)
    assert edit(closed, [1], "delete", SPECIAL).own_numbers == (0, 4)
    assert edit(ROW, [1, 2], "absent", SPECIAL).own_numbers == (0, 3, 4)
    assert ROW.own_numbers == edit(ROW, [1], "mask", SPECIAL).own_numbers == (0, 1, 2, 3, 4)


@pytest.mark.parametrize(("operator", "token"), (("mask", 4), ("pad", 0)))
def test_mask_and_pad_write_their_token(operator, token):
    assert edit(ROW, [1, 2], operator, SPECIAL) == replace(ROW, ids=(2, token, token, 12, 3))


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_edit_of_nothing_changes_nothing(operator):
    assert edit(ROW, [], operator, SPECIAL) == ROW


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_edit_leaves_the_row_itself_alone(operator):
    before = replace(ROW)
    edit(ROW, [1], operator, SPECIAL)
    assert before == ROW


@given(st.sets(st.integers(0, 4), max_size=4), st.sampled_from(OPERATORS))
def test_edited_rows_stay_rows(removed, operator):
    row = edit(ROW, removed, operator, SPECIAL)
    columns = (row.ids, row.types, row.positions, row.word_index, row.segments)
    assert len({len(column) for column in columns}) == 1
    assert len(row) == (5 if operator in ("mask", "pad") else 5 - len(removed))
    assert list(row.positions) == sorted(set(row.positions))


@pytest.mark.parametrize("operator", ("mask", "pad"))
def test_a_tokenizer_without_the_token_says_so(operator):
    with pytest.raises(ModelCannot, match=f"no {operator} token"):
        edit(ROW, [1], operator, SpecialIds(None, None))


def test_an_unknown_operator_raises():
    with pytest.raises(BadSetting, match="operator='blur' is not possible"):
        edit(ROW, [1], "blur", SPECIAL)


@pytest.mark.parametrize("column", ("ids", "types", "positions", "word_index", "segments"))
def test_every_column_counts_in_the_digest(column):
    values = getattr(ROW, column)
    changed = replace(ROW, **{column: (*values[:-1], values[-1] + 1)})
    assert changed.digest != ROW.digest
    assert replace(ROW).digest == ROW.digest


def test_edits_have_digests_of_their_own():
    edits = [edit(ROW, removed, operator, SPECIAL) for removed in ([1], [2], [1, 2]) for operator in OPERATORS]
    assert len({row.digest for row in [ROW, *edits]}) == 13


@given(st.lists(st.sets(st.integers(0, 4)), max_size=5), st.sampled_from(OPERATORS), st.booleans())
def test_many_edits_equal_single_ones(removed, operator, more):
    """Each row by its tuples, and equal rows have equal digests, whether they were made of tuples or of a table."""
    row = replace(ROW, sentences=(-1, 0, 0, 1, -1), written=(-1, -1, 5, 6, -1)) if more else ROW
    is_removed = np.zeros((len(removed), 5), dtype=bool)
    for line, pieces in zip(is_removed, removed, strict=True):
        line[list(pieces)] = True
    for edited, pieces in zip(edits(row, is_removed, operator, SPECIAL), removed, strict=True):
        if operator in ("mask", "pad"):
            token = SPECIAL.get(operator)
            expected = replace(row, ids=tuple(token if n in pieces else id for n, id in enumerate(row.ids)))
        else:
            rest = [n for n in range(5) if n not in pieces]
            pick = lambda column: tuple(column[n] for n in rest if n < len(column))  # noqa: E731, B023
            names = ("ids", "types", "positions", "word_index", "segments", "sentences")
            expected = replace(row, **{name: pick(getattr(row, name)) for name in names})
            expected = expected.closed() if operator == "delete" else expected
        assert edited == expected and edited.own_numbers == expected.own_numbers
        assert (edited.digest, len(edited)) == (expected.digest, len(expected))
        assert edited.extent == expected.extent == max((place + 1 for place in edited.positions), default=0)


def test_an_edited_row_survives_a_copy_and_knows_no_other_names():
    edited = edit(ROW, [1], "absent", SPECIAL)
    for same in (pickle.loads(pickle.dumps(edited)), copy.deepcopy(edited), replace(edited)):
        assert (same, same.digest) == (edited, edited.digest)
        assert (len(same), same.extent) == (4, 5)
    with pytest.raises(AttributeError, match="Row has no attribute word"):
        _ = edited.word


def test_a_unit_is_all_its_pieces(bert):
    batch = bert.encode(as_examples(["An unforgettable café.", ("Watched it twice.", "Unforgettably dull.")]))
    for number in range(2):
        for kind in ("piece", "word", "sentence"):
            pieces = [piece for unit in batch.pieces_of(number, kind) for piece in unit]
            assert tuple(pieces) == batch.units[number].content
    words = batch.pieces_of(0, "word")
    assert len(words) == 4 and len(words[1]) > 1
    assert len(batch.pieces_of(1, "sentence")) == 2


def test_a_selection_has_the_order_of_its_indices(bert):
    batch = bert.encode(as_examples(["one", "two words", "three short words"]))
    part = batch.select([2, 0])
    assert part.examples == (batch.examples[2], batch.examples[0])
    assert part.rows == (batch.rows[2], batch.rows[0])
    assert part.units == (batch.units[2], batch.units[0])
    assert part.lengths == (len(batch.rows[2]), len(batch.rows[0]))


def test_positions_and_words_of_a_fresh_row(models):
    for model in (models["bert"], models["roberta"], models["xlm_roberta"]):
        for row, units in zip(
            *(lambda b: (b.rows, b.units))(model.encode(as_examples([("A fine film.", "Dull.")]))),
            strict=True,
        ):
            assert row.positions == tuple(range(len(row)))
            assert row.segments == units.segment
            assert [word == -1 for word in row.word_index] == [segment == -1 for segment in row.segments]
