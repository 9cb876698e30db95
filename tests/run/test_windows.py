"""Texts longer than the model reads: windows cover them whole, and the explained value is the mean over windows."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from pellucid.base.errors import BadInput
from pellucid.base.kinds import attributions
from pellucid.run.batch import OPERATORS, Row, edit
from pellucid.run.scheduler import Scheduler, evaluate_rows
from pellucid.run.stitching import stitched
from pellucid.run.target import Target
from pellucid.run.windows import in_windows, pieces_in, rows_of, window_row, windows_of
from pellucid.text.example import Example, as_examples
from pellucid.text.units import SPECIAL, Spans, Units
from tests.shared.asking import FEW, STATE, ask, ask_all, reads_states
from tests.shared.explanations import explanation
from tests.shared.tiny import tiny_classifier

WORDS = "the café was closed and dull but a gripping lovely film made the unforgettable evening.".split()
LONG = " ".join(WORDS[number % len(WORDS)] for number in range(150))
TWO_WINDOWS = LONG[: len(LONG) // 2]  # enough for methods that read each window many times
PAIRS = {
    "long and short": (LONG, "Nobody could eat there."),
    "short and long": ("Nobody could eat there.", LONG),
    "both long": (TWO_WINDOWS, " ".join(reversed(TWO_WINDOWS.split()))),
}


def row_of(*word_lengths):
    """[CLS] text [SEP] (text [SEP]) of words with so many pieces each."""
    words, segments = [SPECIAL], [SPECIAL]
    for text, lengths in enumerate(word_lengths):
        for word, length in enumerate(lengths):
            words += [100 * text + word] * length
            segments += [text] * length
        words.append(SPECIAL)
        segments.append(SPECIAL)
    count = len(words)
    return Row(tuple(range(count)), (0,) * count, tuple(range(count)), tuple(words), tuple(segments))


texts = st.lists(st.integers(1, 6), min_size=1, max_size=60)


@given(st.lists(texts, min_size=1, max_size=2), st.integers(10, 40))
def test_windows_hold_every_piece_and_no_more_than_the_model_reads(lengths, max_length):
    row = row_of(*lengths)
    windows = windows_of(row, max_length)
    assert bool(windows) == (len(row) > max_length)
    pieces_of_windows = [pieces_in(row, window) for window in windows]
    if windows:
        assert {piece for pieces in pieces_of_windows for piece in pieces} == set(range(len(row)))
    specials = {piece for piece, segment in enumerate(row.segments) if segment == SPECIAL}
    for pieces in pieces_of_windows:
        assert len(pieces) <= max_length
        assert specials <= set(pieces)
        assert list(pieces) == sorted(pieces)
        assert {row.segments[piece] for piece in pieces} == set(row.segments)


@given(texts, st.integers(40, 90))
def test_no_word_is_cut_where_words_are_short(lengths, max_length):
    lengths = [min(length, 2) for length in lengths * 4]
    row = row_of(lengths)
    for window in windows_of(row, max_length):
        _, (first, last), _ = window
        assert row.word_index[first] != row.word_index[first - 1]
        assert row.word_index[last - 1] != row.word_index[last]


def test_a_word_longer_than_a_window_is_cut():
    row = row_of([300])
    assert all(len(window_row(row, window)) <= 50 for window in windows_of(row, 50))


@given(st.integers(60, 400))
def test_neighbours_overlap_by_about_an_eighth(count):
    windows = windows_of(row_of([1] * count), 50)
    inner = [window[1] for window in windows]
    for (_, last), (first, _) in pairwise(inner):
        assert last - first >= 6  # an eighth of 48
    assert len(windows) == 1 + -(-(count - 48) // 42)


def test_a_short_text_of_a_pair_stands_whole_in_every_window():
    row = row_of([1] * 100, [1] * 5)
    for window in windows_of(row, 40):
        assert [row.segments[piece] for piece in pieces_in(row, window)].count(1) == 5


def test_two_long_texts_are_read_in_all_combinations():
    row = row_of([1] * 100, [1] * 90)
    seen = {
        (first, second)
        for window in windows_of(row, 43)
        for first in pieces_in(row, window)
        for second in pieces_in(row, window)
        if row.segments[first] == 0 and row.segments[second] == 1
    }
    assert len(seen) == 100 * 90


def test_a_model_without_room_for_text_says_so():
    with pytest.raises(BadInput, match="too few for windows"):
        windows_of(row_of([1] * 9), 3)


@pytest.mark.parametrize("operator", OPERATORS)
def test_an_edit_of_the_whole_is_the_edit_of_every_window(operator, bert):
    batch = bert.encode(as_examples([LONG]))
    row, removed = batch.rows[0], set(range(40, 90)) | {3, 200}
    edited_windows = rows_of(edit(row, removed, operator, batch.special))
    for edited, window in zip(edited_windows, row.windows, strict=True):
        pieces = pieces_in(row, window)
        inside = {place for place, piece in enumerate(pieces) if piece in removed}
        expected = edit(window_row(row, window), inside, operator, batch.special)
        assert (edited, edited.own_numbers) == (expected, expected.own_numbers)


def slices_of(text, classifier):
    """The text's windows as texts, each as long as the model reads."""
    batch = classifier.encode(as_examples([text]))
    cut, _ = in_windows(batch)
    starts = [units.start[units.content[0]] for units in cut.units]
    ends = [units.end[units.content[-1]] for units in cut.units]
    return list(zip(starts, ends, strict=True))


def test_the_prediction_is_the_mean_of_the_windows_own(bert):
    cut = [LONG[start:end] for start, end in slices_of(LONG, bert)]
    assert len(cut) > 3
    own = torch.stack([bert.plain_logits(example) for example in as_examples(cut)]).mean(0)
    explanation = ask(bert, [LONG], "gradient")[0]
    np.testing.assert_allclose(explanation.prediction.logits, own, atol=1e-5)
    row = bert.encode(as_examples([LONG])).rows
    np.testing.assert_allclose(evaluate_rows(bert, Scheduler(512), row)[0], own, atol=1e-5)
    assert explanation.target.value == pytest.approx(float(own.max()), abs=1e-5)


# A search answers to rounding with steps of another size, so its scores are no sums.
SEARCHES = {"preservation_mask"}
# These explain the loss of the text, which is no mean of losses: see test_long_probability.py.
OF_THE_LOSS = {"allennlp_integrated", "allennlp_simple"}
WINDOWED = [name for name in attributions.names() if name != "linear_coefficients"]  # it reads texts at once
EXACT = [name for name in WINDOWED if not attributions.get(name).facts["random"] and name not in SEARCHES | OF_THE_LOSS]


def rows_by_place(explanation, offset=0):
    """The scores [row] of each unit by its characters; pieces of one character share an offset."""
    rows = [explanation.row(*labels) for labels in product(*(labels for _, labels in explanation.rows))]
    sums = {}
    for index in np.flatnonzero(~explanation.special):
        scored = [row.scored(int(index)) for row in rows]
        place = (scored[0].start + offset, scored[0].end + offset)
        sums[place] = sums.get(place, 0) + np.array([one.score for one in scored])
    return sums


def text_for(method):
    """A text of many windows for quick methods, of two windows for slow ones."""
    return LONG if method in ("gradient", "span_attention") else TWO_WINDOWS


_EXPLANATIONS = {}


def of_the_long_text(model, method):
    """The explanation of the method's text: computed once, and used by several tests."""
    key = model.hash, method
    if key not in _EXPLANATIONS:
        _EXPLANATIONS[key] = ask(model, [text_for(method)], (method, FEW.get(method, {})))[0]
    return _EXPLANATIONS[key]


@pytest.mark.parametrize("method", EXACT)
def test_scores_are_the_windows_scores_by_character(method, having):
    """The oracle explains each window as a text of its own and adds up by offsets."""
    model = having(method)
    choice = (method, FEW.get(method, {}))
    whole, text = of_the_long_text(model, method), text_for(method)
    parts = slices_of(text, model)
    target = STATE if reads_states(method) else Target(whole.target.label)
    alone = ask(model, [text[start:end] for start, end in parts], choice, target=target)
    sums, n_containing = {}, Counter()
    for (offset, _), part in zip(parts, alone, strict=True):
        for place, scores in rows_by_place(part, offset).items():
            sums[place] = sums.get(place, 0) + scores / len(parts)
            n_containing[place] += 1
    own = rows_by_place(whole)
    if not attributions.get(method).facts["shares"]:  # the mean over the windows that hold the place
        sums = {place: total * len(parts) / n_containing[place] for place, total in sums.items()}
    assert own.keys() == sums.keys()
    size = max(1.0, *(np.abs(scores).max() for scores in sums.values()))
    apart = max(np.abs(own[place] - sums[place]).max() for place in own)
    assert apart <= 2e-5 * size
    if attributions.get(method).facts["shares"]:
        total = sum(part.scores.sum() for part in alone) / len(parts)
        assert float(whole.scores.sum()) == pytest.approx(float(total), abs=1e-3)


@pytest.mark.parametrize("method", WINDOWED)
def test_a_long_text_says_how_it_was_read(method, having):
    model = having(method)
    explanation = of_the_long_text(model, method)
    count = len(slices_of(text_for(method), model))
    assert explanation.diagnostics["windows"] == count
    assert 0 <= explanation.diagnostics["overlap_disagreement"] <= 1
    assert any(f"read in {count} overlapping windows" in caveat for caveat in explanation.caveats)


@pytest.mark.whole
@pytest.mark.parametrize("method", WINDOWED)
def test_neighbours_do_not_change_a_long_text(method, having, texts):
    model = having(method)
    choice = (method, FEW.get(method, {}))
    alone = of_the_long_text(model, method)
    before, between, after = ask(model, [texts[2], text_for(method), texts[0]], choice)
    np.testing.assert_allclose(between.scores, alone.scores, atol=1e-5)
    assert "windows" not in before.diagnostics and "windows" not in after.diagnostics
    np.testing.assert_allclose(after.scores, ask(model, texts[:1], choice)[0].scores, atol=1e-5)


@pytest.mark.parametrize("pair", PAIRS)
def test_long_pairs_are_explained_whole(pair, bert):
    for explanations in ask_all(bert, [PAIRS[pair]], ["gradient", "occlusion"]).values():
        units = explanations[0].units
        assert set(units.segment) == {SPECIAL, 0, 1}
        whole = bert.encode([explanations[0].example]).units[0]
        assert max(units.end) == max(whole.end)
        assert np.abs(explanations[0].scores[~explanations[0].special]).all()


@pytest.mark.parametrize(("second", "expected"), (([2.0, 1.0], 0.0), ([-2.0, -1.0], 1.0), ([1.0, 1.0], 0.25)))
def test_disagreement_is_how_far_scores_of_the_overlap_lie_apart(second, expected):
    """Units b and c are in both windows, with scores 2 and 1 in the first."""
    whole = explanation("a b c d", scores=np.zeros(6))
    parts = [
        replace(whole, units=whole.units.take([0, 1, 2, 3, 5]), scores=np.array([0, 9.0, 2.0, 1.0, 0])),
        replace(whole, units=whole.units.take([0, 2, 3, 4, 5]), scores=np.array([0, *second, 7.0, 0])),
    ]
    joined = stitched(parts, whole.units)
    apart = abs(2.0 - second[0]) + abs(1.0 - second[1])
    assert joined.diagnostics["overlap_disagreement"] == pytest.approx(apart / (3 + sum(map(abs, second))))
    assert joined.diagnostics["overlap_disagreement"] == pytest.approx(expected, abs=0.06)
    assert joined.scores.tolist() == [0, 4.5, (2 + second[0]) / 2, (1 + second[1]) / 2, 3.5, 0]
    assert any("their scores differ by" in caveat for caveat in joined.caveats) == (expected > 0.5)


def top_shares(explanation, model, share=0.05):
    """Of the highest-scored words of all draws, and of all words, the share that is in several windows."""
    shared = np.array(windows_with(explanation, model)) > 1
    count = max(1, round(share * (~explanation.special).sum()))
    best = np.argsort(-np.where(explanation.special, -1.0, explanation.scores), axis=-1)[:, :count]
    return float(shared[best].mean()), float(shared[~explanation.special].mean())


def windows_with(explanation, model):
    """For each word of a long text the number of windows that contain it."""
    cut = slices_of(explanation.example.text, model)
    units = explanation.units
    return [
        sum(first <= start < last for first, last in cut) if segment != SPECIAL else 0
        for segment, start in zip(units.segment, units.start, strict=True)
    ]


def test_chance_draws_once_for_each_word_of_the_text(bert):
    """Two draws a word of an overlap would fill the top of every ranking, or leave it, depending on how they are
    joined.
    """
    explanation = ask(bert, [LONG], ("chance", {"n_draws": 200}))[0]
    assert explanation.diagnostics["overlap_disagreement"] == 0
    among_best, among_all = top_shares(explanation, bert)
    assert among_best == pytest.approx(among_all, abs=0.03)
    assert explanation.scores[:, ~explanation.special].max() > 0.99
    quartiles = np.quantile(explanation.scores[:, ~explanation.special], (0.25, 0.5, 0.75))
    np.testing.assert_allclose(quartiles, (0.25, 0.5, 0.75), atol=0.02)


@pytest.mark.parametrize("unit", ("word", "piece", "sentence"))
def test_where_windows_are_cut_does_not_change_the_draws_of_chance(unit, bert):
    """Also where a border cuts a word or a sentence: both of its parts have the draw of the whole."""
    choice = ("chance", {"n_draws": 5, "unit": unit})
    texts = [LONG, "fine " + "x" * 90, PAIRS["both long"]]
    for one, other in zip(ask(bert, texts, choice), ask(replace(bert, window=40), texts, choice), strict=True):
        assert one.diagnostics.get("windows", 1) < other.diagnostics["windows"]
        np.testing.assert_allclose(one.scores, other.scores, rtol=0, atol=1e-6)
        for row in one.scores[:, ~one.special]:
            assert len(set(row.tolist())) == len(row)


def test_of_several_windows_the_worst_diagnostic_counts(bert):
    pieces = bert.encode(as_examples([LONG])).units[0]
    of_windows = (
        {"exact": 1.0, "fit_r2": 0.9, "stability": 0.2, "standard_error": 0.1, "relative_error": 0.3},
        {"exact": 0.0, "fit_r2": 0.4, "stability": 0.8, "standard_error": 0.5, "relative_error": 0.2},
    )
    windows = [explanation(LONG, units=pieces, diagnostics=diagnostics) for diagnostics in of_windows]
    worst = {"exact": 0.0, "fit_r2": 0.4, "stability": 0.2, "standard_error": 0.5, "relative_error": 0.3}
    assert stitched(windows, pieces).diagnostics.items() >= worst.items()


def test_caveats_of_several_windows_become_one():
    whole = explanation("a b c d", scores=np.zeros(6))
    units = whole.units.take([0, 1, 2, 5])
    of_windows = (("shared", "misses 9.5% of 3"), ("shared", "misses 12% of 3"), ("shared", "own"))
    parts = [replace(whole, units=units, scores=np.zeros(4), caveats=caveats) for caveats in of_windows]
    assert stitched(parts, whole.units).caveats[1:] == (
        "shared",
        "In 2 of 3 windows, at worst: misses 12% of 3",
        "In 1 of 3 windows: own",
    )


def test_span_weights_of_a_long_text_sum_to_one(self_explaining):
    explanation = ask(self_explaining, [LONG], "span_attention")[0]
    assert isinstance(explanation.units, Spans)
    assert float(explanation.scores.sum()) == pytest.approx(1, abs=1e-5)
    assert len({explanation.units.characters(n) for n in range(len(explanation.units))}) == len(explanation.units)


def test_what_is_read_of_a_long_text_is_shown_as_of_a_short_one(having):
    """Probabilities are no shares of a sum: divided by the number of windows, none would be above a half."""
    model = having("rationale")
    [explanation] = ask(model, [LONG], "rationale")
    [cut] = pellucid.extract(model, [LONG], "rationale")
    assert explanation.scores.max() > 0.5
    assert {span.text for span in explanation.runs()} == {span.text for span in cut.spans}
    assert any("the mean of its two scores" in caveat for caveat in explanation.caveats)


@pytest.mark.parametrize("family", ("roberta", "albert", "mpnet", "deberta_v3", "modernbert"))
def test_every_kind_of_tokenizer_reads_windows(family, models):
    for of_text in ask(models[family], [LONG, PAIRS["long and short"]], "gradient"):
        whole = models[family].encode([of_text.example])
        assert of_text.units == whole.units[0]
        assert of_text.diagnostics["parity"] <= 1e-4


def test_ids_of_examples_may_repeat(bert):
    twice = [Example((LONG,), id="same"), Example((LONG + " Fine.",), id="same")]
    first, second = ask(bert, twice, "gradient")
    assert len(second.scores) > len(first.scores)


def test_pieces_of_one_character_differ_by_their_order():
    """As of byte-level tokenizers: an emoji is several pieces, all with its characters, and a window may begin inside
    it.
    """
    starts, ends = (0, 0, 2, 2, 2, 4, 5, 5), (0, 2, 4, 4, 4, 5, 7, 7)
    pieces = Units("piece", tuple("cabbbdee"), (SPECIAL, *(0,) * 7), starts, ends)
    whole = explanation("aabbdee", units=pieces, scores=np.zeros(8))
    parts = [
        replace(whole, units=pieces.take(places), scores=np.array([0, *(2.0 * place for place in places[1:])]))
        for places in ([0, 1, 2, 3], [0, 3, 4, 5, 6], [0, 4, 5, 6, 7])
    ]
    joined = stitched(parts, pieces)
    in_windows = np.array([1, 1, 1, 2, 2, 2, 2, 1])
    np.testing.assert_allclose(joined.scores, 2.0 * np.arange(8) * in_windows / 3)
    assert joined.diagnostics["overlap_disagreement"] == 0


def test_no_piece_of_a_long_text_in_another_script_is_lost():
    text = "यह फिल्म बहुत अच्छी थी और हमने इसे फिर देखा " * 3
    (long,) = ask(tiny_classifier("roberta"), [text], "gradient_x_input")
    assert long.diagnostics["windows"] > 1
    assert (long.scores[~long.special] != 0).all()
