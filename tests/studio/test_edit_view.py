"""The view of an edit: only the word changes, proposals carry the model's own answers, and nothing of a text is markup."""

import re
from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadInput
from pellucid.drawing.widgets import WIDGETS
from pellucid.results.explanation import Prediction
from pellucid.studio.edits import Proposal, Proposals, offered_attacks, proposals_for, word_at, words_of
from pellucid.studio.frame import framed
from pellucid.studio.record import CHARACTERS, Studio, TextRequest
from pellucid.studio.views.edit import _proposals, edit
from pellucid.studio.visit import Elsewhere, Page, Visit
from pellucid.text.units import text_units
from tests.attacks.word_sums import sum_model
from tests.drawing.test_escaping import OURS
from tests.shared.parsed import parsed
from tests.shared.sample_results import HOSTILE
from tests.studio.test_text_view import drawn

TEXTS = (
    ("A gripping,\tlovely film.\r\n\r\nIt has a cafe\u0301, two emoji 👩‍👩‍👧👍 and שלום!",),
    ("The café was closed.", "Nobody\u202e eats\u202c there."),
    ("fine",),
)


@pytest.fixture(scope="module")
def studio(bert):
    return Studio({"bert": bert, "sums": sum_model()})


def visit_of(studio, segments, model="bert", **fields):
    key = studio.requests.add(TextRequest(model, tuple(segments)))
    return Visit(studio, view="edit", path=(key,), reader="reader", **fields)


def sent(visit, **fields):
    """The texts that a form makes, and whose edit they are."""
    form = {name: [value] for name, value in fields.items()}
    elsewhere = drawn(edit, replace(visit, form=form))
    assert isinstance(elsewhere, Elsewhere)
    before, key = re.fullmatch(r"\.\./twin/([0-9a-f]{24})/([0-9a-f]{24})", elsewhere.address).groups()
    question = visit.studio.requests[key]
    assert before == visit.path[0] == question.before
    return question.segments


def page(visit, **query):
    visit = replace(visit, query=query)
    answer = drawn(edit, visit)
    assert isinstance(answer, Page)
    html = framed(visit, answer)
    for node in parsed(html.removeprefix("<!doctype html>")).every():
        assert node.tag in OURS | WIDGETS and not [key for key in node.attributes if key.startswith("on")]
    assert html.count("<script") == 1
    return html


@pytest.mark.parametrize("segments", TEXTS)
def test_an_edit_changes_the_characters_of_its_word_and_no_other(studio, bert, segments):
    visit = visit_of(studio, segments)
    view = pellucid.explain(bert, pellucid.Example(segments), "occlusion")[0].view("word")
    words = drawn(lambda visit: words_of(visit, visit.question[1]), visit)
    assert len(words) == len(view.units.content)
    for number, unit in enumerate(view.units.content):
        segment, start = view.units.segment[unit], view.units.start[unit]
        first, last = next(range for range in text_units(segments[segment], "word") if range[0] <= start < range[1])
        before, after = segments[segment][:first], segments[segment][last:]
        for replacement in ("new 👍", ""):
            expected = list(segments)
            expected[segment] = f"{before}{replacement}{after}"
            if expected[segment].strip():
                assert sent(replace(visit, query={"word": str(number)}), replacement=replacement) == tuple(expected)


@pytest.mark.parametrize(("model", "source"), [("bert", "masked_words"), ("sums", "synonyms")])
def test_proposals_carry_the_answers_to_the_edited_texts(studio, model, source):
    segments = ("A lovely film with a wonderful story.",)
    visit = visit_of(studio, segments, model)
    question = visit.question[1]
    place = word_at(drawn(lambda visit: words_of(visit, question), visit), 1)
    proposals = drawn(lambda visit: proposals_for(visit, question, 1, place), visit)
    assert {proposal.source for proposal in proposals.proposals} >= {source}
    texts = [segments[0].replace("lovely", proposal.text) for proposal in proposals.proposals]
    answers = pellucid.predict(studio.model(model), [*segments, segments[0].replace("lovely", ""), *texts])
    computed = [proposals.before, proposals.out, *(proposal.after for proposal in proposals.proposals)]
    for answer, expected in zip(computed, answers, strict=True):
        np.testing.assert_allclose(answer.probabilities, expected.probabilities, atol=1e-6)
    html = page(visit, word="1")
    for proposal in proposals.proposals:
        assert f'name="replacement" value="{proposal.text}"' in html
    assert sent(replace(visit, query={"word": "1"}), replacement=proposals.proposals[0].text) == (texts[0],)


def test_an_attack_is_put_in_with_its_own_edits(studio):
    segments = ("The lovely film had a wonderful quiet story about a wild river.",)
    visit = visit_of(studio, segments, "sums")
    assert offered_attacks(studio.model("sums")) == ["word_saliency", "deepwordbug"]
    attempt = pellucid.attack(studio.model("sums"), pellucid.Example(segments), "word_saliency")[0]
    assert attempt.edits and "edited texts" in page(visit)
    html = page(visit, attack="word_saliency")
    assert all(f"“{change.before}” → “{change.after}”" in html for change in attempt.edits)
    assert sent(visit, attack="word_saliency") == attempt.segments
    wrong = next(name for name in studio.model("sums").labels if name != attempt.before.label)
    key = studio.requests.add(TextRequest("sums", segments, ("occlusion",), label=wrong))  # a mistake of a run
    assert f"“{sorted(attempt.edits)[0].before}” → " in page(replace(visit, path=(key,)), attack="word_saliency")
    with pytest.raises(BadInput, match="offers no attack called 'pwws'"):
        page_of = replace(visit, form={"attack": ["pwws"]})
        drawn(edit, page_of)


def test_the_whole_text_is_edited_as_it_was_typed(studio):
    pair = visit_of(studio, ("One\ntwo", "three"))
    assert sent(pair, text="\r\nOne\r\nfour ", second="five") == ("\nOne\nfour ", "five")
    area = next(parsed(page(pair).removeprefix("<!doctype html>")).every("textarea"))
    assert area.text == "\nOne\ntwo"  # browsers leave out the first line end
    for segments in TEXTS[:2]:  # a form would change what they are written with
        assert "control characters" in page(visit_of(studio, segments))


@pytest.mark.parametrize("segments", [(HOSTILE.replace("\0", ""),), ("fine", f"<b>{HOSTILE}".replace("\0", ""))])
def test_markup_of_a_text_is_text(studio, segments):
    visit = visit_of(studio, segments)
    for query in ({}, {"word": "0"}, {"word": "4"} if len(segments[0]) > 4 else {"word": "1"}):
        assert "<img" not in page(visit, **query)


def test_markup_of_a_proposal_is_text():
    answer = Prediction("no", ("no", "<i>yes"), (0.2, 0.1), (0.6, 0.4))
    other = Prediction("<i>yes", ("no", "<i>yes"), (0.1, 0.2), (0.4, 0.6))
    proposals = Proposals(answer, None, (Proposal('"><script>', "synonyms", other),), ("<b>note",))
    tree = parsed(_proposals("./edit/key", proposals))
    (button,) = tree.every("button")
    assert button.attributes["value"] == button.text == '"><script>' and not [*tree.every("script"), *tree.every("b")]
    assert "no 60 % → <i>yes 60 %" in tree.text and "<b>note" in tree.text


@pytest.mark.parametrize(
    ("query", "form", "sentence"),
    [
        ({"word": "99"}, None, "has 1 words, and"),
        ({"word": "x"}, None, "no whole number"),
        ({"word": "0"}, {"replacement": ["fine"]}, "as it was"),
        ({"word": "0"}, {"replacement": [""]}, "The text is empty"),
        ({}, {"text": ["x" * (CHARACTERS + 1)]}, f"{CHARACTERS + 1:,} characters"),
    ],
)
def test_an_edit_that_is_none_ends_in_a_sentence(studio, query, form, sentence):
    with pytest.raises(BadInput, match=sentence):
        drawn(edit, visit_of(studio, ("fine",), query=query, form=form))
