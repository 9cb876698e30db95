"""Forms of words: what is listed, what is regular, and that case and form are those of the replaced word."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pellucid.text.inflection import form_of, in_case_of, in_form_of, inflected

VERBS = """
go went gone going goes, take took taken taking takes, begin began begun beginning begins, show showed shown showing shows
stop stopped stopped stopping stops, try tried tried trying tries, love loved loved loving loves, die died died dying dies
be was been being is, have had had having has, come came come coming comes, put put put putting puts, see saw seen seeing sees
"""
NOUNS = (
    "man men, child children, fly flies, church churches, wolf wolves, human humans, funds funds, film films, "
    "crisis crises"
)
DEGREES = (
    "big bigger biggest, happy happier happiest, good better best, nice nicer nicest, interesting "
    "more~interesting most~interesting"
)


def rows(text):
    return [row.split() for row in text.replace("\n", ", ").split(", ") if row.strip()]


@pytest.mark.parametrize("row", rows(VERBS), ids=lambda row: row[0])
def test_verbs(wordnet, row):
    forms = ("past", "participle", "gerund", "third_person")
    assert [inflected(row[0], form, wordnet) for form in forms] == row[1:]


@pytest.mark.parametrize("row", rows(NOUNS), ids=lambda row: row[0])
def test_plurals(wordnet, row):
    assert inflected(row[0], "plural", wordnet) == row[1]


@pytest.mark.parametrize("row", rows(DEGREES), ids=lambda row: row[0])
def test_degrees(wordnet, row):
    forms = [inflected(row[0], form, wordnet) for form in ("comparative", "superlative")]
    assert [form.replace(" ", "~") for form in forms] == row[1:]


@pytest.mark.parametrize(
    ("synonym", "word", "part_of_speech", "expected"),
    [
        ("movie", "Films", "noun", "Movies"),
        ("motion picture", "FILMS", "noun", "MOTION PICTURES"),
        ("give up", "abandoned", "verb", "gave up"),
        ("know", "loved", "verb", "knew"),
        ("take", "gone", "verb", "taken"),
        ("fine", "best", "adjective", "finest"),
        ("English", "language", "noun", "English"),
    ],
)
def test_a_synonym_takes_the_form_of_its_word(wordnet, synonym, word, part_of_speech, expected):
    assert in_form_of(synonym, word, part_of_speech, wordnet) == expected


def test_past_and_participle_differ_where_the_verb_does(wordnet):
    assert [form_of(word, "verb", wordnet) for word in ("went", "gone", "loved", "found")] == [
        "past",
        "participle",
        "past",
        "past",
    ]
    assert in_form_of("take", "loved", "verb", wordnet, form="participle") == "taken"


@given(replacement=st.text(max_size=12), word=st.text(max_size=12))
def test_case_changes_nothing_but_case(replacement, word):
    assert in_case_of(replacement, word).casefold() == replacement.casefold()


@settings(deadline=None)
@given(
    st.text(max_size=20),
    st.sampled_from(["plural", "third_person", "past", "participle", "gerund", "comparative", "superlative"]),
)
def test_any_string_has_every_form(word, form):
    from pellucid.text.wordnet import WordNet, wordnet_folder

    if (wordnet_folder() / "data.noun").is_file():
        assert isinstance(inflected(word, form, WordNet()), str)


@settings(deadline=None, max_examples=50)
@given(data=st.data())
def test_a_regular_form_leads_back_to_its_word(wordnet, data):
    verb = data.draw(st.sampled_from(["walk", "try", "agree", "hope", "fix", "admit", "wash", "play"]))
    form = data.draw(st.sampled_from(["third_person", "past", "gerund"]))
    assert form_of(inflected(verb, form, wordnet), "verb", wordnet) == form
