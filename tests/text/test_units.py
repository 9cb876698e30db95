"""Units have the right offsets in the original text, whatever the tokenizer does, and coarser units keep sums."""

from functools import cache

import numpy as np
import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from pellucid.base.errors import BadInput, BadSetting
from pellucid.models.classifiers.tokens import encode
from pellucid.run.batch import SpecialIds
from pellucid.text.example import Example
from pellucid.text.units import KINDS, SPECIAL, Spans, Units, all_spans, coarsen, occurrences, text_units
from tests.shared.explanations import explanation, word_units
from tests.shared.tiny import byte_pairs, sentence_piece, word_piece

WORDS_AND_LARGER = ("word", "sentence", "paragraph")  # every piece can become part of these

TOKENIZERS = {"word_piece": word_piece, "byte_pairs": byte_pairs, "sentence_piece": sentence_piece}
CURIOUS = (
    "plain words, and a full stop.",
    "family 👩‍👩‍👧‍👦 and flags 🇳🇴🇵🇹 and skin 👍🏽!",
    "cafe\u0301 re\u0301sume\u0301 nai\u0308ve",
    "שלום עולם، مرحبا بالعالم",
    "tabs\tand\nnew\r\nlines\n\nand paragraphs",
    "ॐ नमस्ते ไทย 中文字符 日本語",
    "don't re-read O’Neill's e-mail... \"Really?!\" (yes)",
    " \u00a0 leading and trailing \u2003 ",
    "x",
    "ﬁne ½ ℃ ﷺ",
    "under_score C++ 3.14 1,000 a/b @me #tag https://a.b/c?d=e",
)
TEXT = st.lists(
    st.sampled_from(
        [
            *"aeiostnr AZ.,!?'-",
            "film",
            " the ",
            "\n",
            "\t",
            "\n\n",
            "é",
            "e\u0301",
            "👩‍👧",
            "👍🏽",
            "ש",
            "م",
            "中",
            "ö",
        ]
    ),
    min_size=1,
    max_size=40,
).map("".join)


@cache
def tokenizer(name):
    return TOKENIZERS[name]()


def batch_of(name, *segments):
    return encode(tokenizer(name), [Example(segments)], max_length=10_000, special=SpecialIds(None, None))


def visible(text, kind=r"\S"):
    """The offsets of the characters that are no blanks."""
    return {match.start() for match in regex.finditer(kind, text)}


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", CURIOUS)
@pytest.mark.parametrize("pair", (False, True))
def test_pieces_stand_in_the_original_text(name, text, pair):
    segments = (text, "And a second one.") if pair else (text,)
    units = batch_of(name, *segments).units[0]
    for unit in units.content:
        stands_in = segments[units.segment[unit]]
        start, end = units.start[unit], units.end[unit]
        assert 0 <= start <= end <= len(stands_in)
        if start == end:  # a byte-pair tokenizer's piece for a blank alone
            assert stands_in[start - 1].isspace()
        assert units.labels[unit] == stands_in[start:end]
        assert units.labels[unit].strip() in (units.labels[unit], "")
    for number, segment in enumerate(segments):
        places = [(units.start[unit], units.end[unit]) for unit in units.content if units.segment[unit] == number]
        assert places == sorted(places)
        covered = {place for start, end in places for place in range(start, end)}
        assert visible(segment, r"[^\s\p{M}]") <= covered  # some tokenizers drop combining marks


@pytest.mark.parametrize("name", TOKENIZERS)
@pytest.mark.parametrize("text", CURIOUS)
def test_special_tokens_stand_nowhere(name, text):
    batch = batch_of(name, text, text)
    units, ids = batch.units[0], batch.rows[0].ids
    specials = [id in tokenizer(name).all_special_ids and id != tokenizer(name).unk_token_id for id in ids]
    assert units.special.tolist() == specials
    for unit in np.flatnonzero(units.special):
        assert (units.start[unit], units.end[unit]) == (0, 0)
        assert units.labels[unit] in tokenizer(name).all_special_tokens


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=TEXT, more=st.none() | TEXT)
def test_every_piece_has_one_word_and_words_stand_in_the_text(name, text, more):
    segments = (text,) if more is None else (text, more)
    try:
        pieces = batch_of(name, *segments).units[0]
    except BadInput:  # nothing but blanks or bare marks
        return
    for kind in WORDS_AND_LARGER:
        units, index = coarsen(pieces, kind, segments)
        assert len(index) == len(pieces)
        assert sorted(set(index)) == list(range(len(units)))
        assert list(index) == sorted(index)
        for piece, unit in enumerate(index):
            assert units.segment[unit] == pieces.segment[piece]
            if pieces.segment[piece] != SPECIAL and pieces.labels[piece].strip():
                assert units.start[unit] <= pieces.start[piece]
                assert units.end[unit] >= pieces.end[piece]
        for unit in units.content:
            assert units.labels[unit] == segments[units.segment[unit]][units.start[unit] : units.end[unit]]


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=TEXT, data=st.data())
def test_coarser_units_keep_the_sums(name, text, data):
    try:
        pieces = batch_of(name, text).units[0]
    except BadInput:
        return
    numbers = st.floats(-100, 100, allow_nan=False, width=32)
    scores = data.draw(st.lists(numbers, min_size=len(pieces), max_size=len(pieces)))
    whole = explanation(text, scores=scores, units=pieces)
    for kind in ("piece", *WORDS_AND_LARGER):
        view = whole.view(kind)
        assert view.scores.sum(dtype=np.float64) == pytest.approx(sum(whole.scores.astype(np.float64)), abs=1e-3)
    by_steps = whole.words().sentences().paragraphs()
    assert by_steps.units == whole.paragraphs().units
    np.testing.assert_allclose(by_steps.scores, whole.paragraphs().scores, atol=1e-3)


@given(TEXT)
def test_words_sentences_and_paragraphs_hold_every_visible_character_once(text):
    for kind in KINDS[1:]:
        places = [place for start, end in text_units(text, kind) for place in range(start, end)]
        assert len(places) == len(set(places))
        assert visible(text) <= set(places)


WORDS = {
    "I don't re-read it.": ["I", "don't", "re-read", "it", "."],
    "Hi!!! 👩‍👩‍👧👍🏽": ["Hi", "!", "!", "!", "👩‍👩‍👧", "👍🏽"],
    "cafe\u0301 déjà": ["cafe\u0301", "déjà"],
    "שלום, עולם": ["שלום", ",", "עולם"],
    "a\tb\nc": ["a", "b", "c"],
    "snake_case 3rd": ["snake_case", "3rd"],
    "O’Neill 'quoted'": ["O’Neill", "'", "quoted", "'"],
}


@pytest.mark.parametrize("text", WORDS)
def test_words_are_what_readers_call_words(text):
    assert [text[start:end] for start, end in text_units(text, "word")] == WORDS[text]


def test_sentences_and_paragraphs():
    text = 'One. Two? "Three!" four\n\nFive 3.5 end… Six'
    assert [text[a:b].strip() for a, b in text_units(text, "sentence")] == [
        "One.",
        "Two?",
        '"Three!"',
        "four",
        "Five 3.5 end…",
        "Six",
    ]
    assert [text[a:b] for a, b in text_units(text, "paragraph")] == [
        'One. Two? "Three!" four',
        "Five 3.5 end… Six",
    ]


def test_words_that_share_a_piece_become_one_unit():
    fine = Units("piece", ("[CLS]", "a b", "c"), (-1, 0, 0), (0, 0, 4), (0, 3, 5))
    words, index = coarsen(fine, "word", ("a b c",))
    assert (words.labels, index) == (("[CLS]", "a b", "c"), (0, 1, 2))


def test_characters_are_pieces_that_are_no_longer():
    """Bytes of one character are one; a character and its marks too; a blank is a character."""
    text = "añ \U0001f469\u200d\U0001f467b"
    places = [(0, 1), (1, 2), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    starts, ends = zip(*places, strict=True)
    fine = Units("piece", tuple("abcdefgh"), (0,) * 8, starts, ends)
    characters, index = coarsen(fine, "character", (text,))
    assert index == (0, 1, 1, 2, 3, 3, 3, 4)
    assert [text[a:b] for a, b in zip(characters.start, characters.end, strict=True)] == [
        "a",
        "ñ",
        " ",
        "\U0001f469\u200d\U0001f467",
        "b",
    ]
    assert coarsen(characters, "word", (text,))[0] == coarsen(fine, "word", (text,))[0]
    longer = Units("piece", ("[CLS]", "a", " film"), (-1, 0, 0), (0, 0, 1), (0, 1, 6))
    with pytest.raises(BadSetting, match="reads pieces of several characters, such as 'film'"):
        coarsen(longer, "character", ("a film",))
    with pytest.raises(BadSetting, match="cannot be split"):
        coarsen(coarsen(longer, "word", ("a film",))[0], "character", ("a film",))


def test_scores_cannot_be_split_finer():
    words, _ = coarsen(word_units(("a b",)), "word", ("a b",))
    with pytest.raises(BadSetting, match="cannot be split"):
        coarsen(words, "piece", ("a b",))
    with pytest.raises(BadSetting, match="unit='letter'"):
        coarsen(words, "letter", ("a b",))


PARTS = st.lists(st.sampled_from((SPECIAL, 0, 0, 0, 1, 1)), min_size=1, max_size=14).map(
    lambda segments: sorted(segments, key=lambda segment: segment if segment != SPECIAL else 0.5)
)


def parts_of(segments):
    return Units("word", tuple("w" * len(segments)), tuple(segments), (0,) * len(segments), (1,) * len(segments))


@given(PARTS, st.none() | st.integers(1, 5))
def test_legal_spans_lie_in_one_text_and_hold_no_special_token(segments, width):
    spans = all_spans(parts_of(segments), width)
    expected = [
        (i, j)
        for i in range(len(segments))
        for j in range(i, len(segments))
        if set(segments[i : j + 1]) in ({0}, {1}) and (width is None or j - i < width)
    ]
    assert list(zip(spans.first.tolist(), spans.last.tolist(), strict=True)) == expected


@pytest.mark.parametrize("sizes", ((1,), (4,), (3, 5), (1, 1)))
def test_the_number_of_legal_spans(sizes):
    segments = [SPECIAL] + [part for number, size in enumerate(sizes) for part in [number] * size + [SPECIAL]]
    assert len(all_spans(parts_of(segments))) == sum(n * (n + 1) // 2 for n in sizes)


@given(PARTS, st.data())
def test_sharing_spans_among_their_words_keeps_sums(segments, data):
    spans = all_spans(parts_of(segments))
    numbers = st.floats(-10, 10, allow_nan=False)
    scores = np.array(data.draw(st.lists(numbers, min_size=len(spans), max_size=len(spans))))
    shared = spans.share(scores)
    literal = np.zeros(len(segments))
    for score, first, last in zip(scores, spans.first, spans.last, strict=True):
        literal[first : last + 1] += score / (last - first + 1)
    np.testing.assert_allclose(shared, literal, atol=1e-9)
    assert shared.sum() == pytest.approx(scores.sum(), abs=1e-9)
    both = spans.share(np.stack([scores, -scores]))
    np.testing.assert_allclose(both, [literal, -literal], atol=1e-9)


def test_a_span_names_its_characters():
    units = word_units(("A fine film.", "Really."))
    spans = all_spans(units)
    place = next(n for n in range(len(spans)) if (spans.first[n], spans.last[n]) == (2, 3))
    assert spans.characters(place) == (0, 2, 11)
    assert spans == all_spans(units) and spans != all_spans(units, 2)
    assert isinstance(spans, Spans) and spans != "spans"


def test_a_score_a_type_goes_to_every_occurrence():
    assert occurrences(["the", "film", "the", "end"], {"the": 0.5, "film": -1.0}) == [0.5, -1.0, 0.5, 0.0]
