"""The view of learnt concepts: cards and a text's concepts are those of the pages, and nothing of a text is markup."""

import pytest

import pellucid
from pellucid.base.errors import BadInput
from pellucid.discovery.page import concept_sections, text_sections
from pellucid.studio import door
from pellucid.studio.frame import framed
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.views.concepts import concepts
from pellucid.studio.views.text import text
from pellucid.studio.visit import Elsewhere, Visit
from pellucid.studio.work import ended
from tests.studio.test_text_view import drawn

TEXT = "A gripping, lovely film <script>alert(1)</script>."
TEXTS = [example.text for example in pellucid.examples("pocket", "train")[:40]]


@pytest.fixture(scope="module")
def learnt(bert):
    return pellucid.find_concepts(bert, [*TEXTS, TEXT], 1, n=3, method="svd", n_texts=3, progress=False)


@pytest.fixture(scope="module")
def studio(bert, linear, learnt):
    studio = Studio({"bert": bert, "linear": linear}, learnt={bert.hash: learnt})
    yield studio
    studio.close()
    assert ended(10)  # a thread that still computes would abort the process at its end


def page(studio, model="bert", view=concepts):
    key = studio.requests.add(TextRequest(model, (TEXT,)))
    visit = Visit(studio, view.__name__, (key,), {}, reader="reader")
    html = framed(visit, drawn(view, visit))
    assert "<script>alert" not in html and html.count("<script") == 1
    return html, key


def test_the_concepts_of_a_text_are_those_of_its_page(studio, bert, learnt):
    html, key = page(studio)
    for section in text_sections(pellucid.text_concepts(bert, TEXT, learnt)):
        assert section.body.text in html
    assert f'href="../text/{key}"' in html and 'aria-current="page"' in html
    assert f"../concepts/{key}" in page(studio, view=text)[0]


def test_the_first_page_shows_the_cards_and_its_form_leads_to_a_text(studio, learnt):
    html = framed(Visit(studio, "concepts"), concepts(Visit(studio, "concepts")))
    assert concept_sections(learnt)[0].body.text in html
    assert '<option value="bert" selected>' in html and "linear</option>" not in html
    elsewhere = concepts(Visit(studio, "concepts", form={"model": ["bert"], "text": ["A fine film."]}))
    assert isinstance(elsewhere, Elsewhere) and elsewhere.address.startswith("./concepts/")


def test_a_model_without_concepts_says_how_to_open_some_and_has_no_tab(studio, linear):
    assert "--learnt FOLDER" in page(studio, "linear")[0]
    alone = Studio({"linear": linear})
    html = framed(Visit(alone, "concepts"), concepts(Visit(alone, "concepts")))
    assert "--learnt FOLDER" in html and 'href="./concepts"' not in html


def test_concepts_of_another_model_or_two_of_one_are_refused(learnt):
    with pytest.raises(BadInput, match="other weights"):
        door._learnt([learnt], {"another"})
    with pytest.raises(BadInput, match="named twice"):
        door._learnt([learnt, learnt], {learnt.model_hash})
