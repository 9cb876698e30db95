"""Words of scripts without spaces: looked up in ICU's dictionaries, or one character each, with a caution."""

from itertools import pairwise

import pytest

import pellucid
from pellucid.text import units as unspaced_words
from pellucid.text.units import text_units

FILM = "这部电影非常精彩"
WORDS = {
    FILM: "这 部 电影 非常 精彩",
    "我用iPhone看COVID-19疫情。": "我 用 iPhone 看 COVID-19 疫 情 。",
    "𠮷野家は、とても": "𠮷 野家 は 、 とても",
    "スーパーで買い物": "スーパー で 買い物",
    "ภาพยนตร์เรื่องนี้สนุกมาก": "ภาพยนตร์ เรื่อง นี้ สนุก มาก",
    "រឿងនេះល្អណាស់": "រឿង នេះ ល្អ ណាស់",
    "ຮູບເງົາເລື່ອງນີ້ດີ": "ຮູບເງົາ ເລື່ອງ ນີ້ ດີ",
    "ဒီရုပ်ရှင်ကကောင်းတယ်": "ဒီ ရုပ်ရှင် က ကောင်း တယ်",
}
SPACED = {
    "한국어 영화가 좋았다": 3,
    "هذا الفيلم رائع جدا": 4,
    "यह फ़िल्म बहुत अच्छी है": 5,
    "A well-known film 👩‍👩‍👧‍👦": 4,
}


@pytest.fixture
def no_dictionary(monkeypatch):
    """As if the package icu4py were not installed."""
    monkeypatch.setattr(unspaced_words, "has_dictionary", lambda: False)
    text_units.cache_clear()
    yield
    text_units.cache_clear()


def words(text):
    return [text[start:end] for start, end in text_units(text, "word")]


@pytest.mark.parametrize("text", WORDS)
def test_words_are_looked_up(text):
    pytest.importorskip("icu4py")
    assert " ".join(words(text)) == WORDS[text]


@pytest.mark.parametrize("text", SPACED)
def test_scripts_with_spaces_are_cut_at_spaces_as_before(text):
    assert len(words(text)) == SPACED[text]


@pytest.mark.parametrize("text", WORDS)
def test_words_cover_all_visible_characters_in_order(text, no_dictionary):
    ranges = text_units(text, "word")
    assert "".join(text[start:end] for start, end in ranges) == text.replace(" ", "")
    assert all(before[1] <= after[0] for before, after in pairwise(ranges))


def test_without_a_dictionary_each_character_is_a_word_and_a_caveat_says_so(no_dictionary):
    service = pellucid.from_function(lambda texts: [[0.4, 0.6] for _ in texts], ["no", "yes"])
    explanation = pellucid.explain(service, FILM, "occlusion")[0]
    assert len(explanation.words().scores) == len(FILM)
    assert unspaced_words.WITHOUT_DICTIONARY in explanation.caveats
    english = pellucid.explain(service, "A fine film", "occlusion")[0]
    assert unspaced_words.WITHOUT_DICTIONARY not in english.caveats


@pytest.mark.parametrize("method", ["occlusion", "lime", "leave_one_out"])
def test_methods_that_take_words_out_take_several_out_of_a_chinese_text(method):
    pytest.importorskip("icu4py")
    service = pellucid.from_function(
        lambda texts: [[0.1, 0.9] if "精彩" in text else [0.9, 0.1] for text in texts], ["no", "yes"]
    )
    explanation = pellucid.explain(service, FILM, method)[0].words()
    assert [scored.text for scored in explanation.top(1)] == ["精彩"]
    assert unspaced_words.WITHOUT_DICTIONARY not in explanation.caveats


@pytest.mark.parametrize(
    "text, count",
    [
        ("电影很好。我喜欢！你呢？", 3),
        ("यह अच्छी है। मुझे पसंद है।", 2),
        ("هل أعجبك؟ نعم.", 2),
        ("It cost 3.50 here. Yes.", 2),
    ],
)
def test_sentences_end_at_the_marks_of_their_script(text, count):
    assert len(text_units(text, "sentence")) == count
