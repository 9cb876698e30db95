"""The view of a text: its numbers are those of `explain_all` and of the metric `hiding`, and nothing of a text is markup."""

import json
import re
import threading
import time
from functools import partial
from html import unescape

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadInput
from pellucid.base.kinds import attributions
from pellucid.comparison.case import Case
from pellucid.comparison.metrics.curves import hiding
from pellucid.run.packing import scheduler_for
from pellucid.studio.explained import _learn_pace, explained, passes_of
from pellucid.studio.frame import framed, report_of
from pellucid.studio.hidden_words import hidden_words, without_words
from pellucid.studio.record import CHARACTERS, Studio, TextRequest
from pellucid.studio.views.text import text
from pellucid.studio.visit import Elsewhere, Page, Visit
from pellucid.studio.work import ReaderLeft, StillComputing
from tests.attacks.word_sums import sum_model
from tests.shared.threads import together
from tests.studio.browser import SENT, Browser

TEXT = "A gripping, lovely film <script>alert(1)</script> that nobody should miss."


@pytest.fixture(scope="module")
def studio(bert):
    return Studio({"bert": bert})


@pytest.fixture(scope="module")
def sums():
    return sum_model()


def drawn(view, visit):
    """The view's answer, however long it takes."""
    while True:
        try:
            return view(visit)
        except StillComputing as computing:
            computing.job.finished.wait(60)


def sent(studio, **fields):
    """The key of a text that was sent by the form."""
    form = {name: value if isinstance(value, list) else [value] for name, value in fields.items()}
    elsewhere = text(Visit(studio, form=form, reader="reader"))
    assert isinstance(elsewhere, Elsewhere)
    return re.fullmatch(r"\./text/([0-9a-f]{24})", elsewhere.address)[1]


def page(studio, key, **query):
    """The page of a text, once its slider is ready too."""
    visit = Visit(studio, path=(key,), query=query, reader="reader")
    while "st-coming" in (html := framed(visit, drawn(text, visit))):
        pass
    return html


def test_a_page_shows_the_numbers_of_explain_all_and_no_markup_of_the_text(studio, bert):
    methods = ["occlusion", "gradient_x_input"]
    key = sent(studio, text=TEXT, method=methods)
    html = page(studio, key)
    assert "<script>alert" not in html and html.count("<script") == 1
    expected = pellucid.explain_all(bert, pellucid.Example((TEXT,)), methods)
    of_page = drawn(lambda visit: explained(visit, studio.requests[key]), Visit(studio, reader="reader"))
    for title, results in expected.items():
        np.testing.assert_allclose(of_page[title][0].scores, results[0].scores, atol=1e-6)


def test_texts_that_let_each_other_by_get_the_scores_that_they_get_alone(bert, monkeypatch):
    monkeypatch.setattr("pellucid.studio.work.SLICE", 0.0)  # they pause at every report, in the middle of a method
    studio, methods = Studio({"bert": bert}), ("occlusion", "integrated_gradients", "relevance", "attention")
    texts = [" ".join([f"word{text}", "lovely", "dull", "film"] * 8) for text in range(5)]
    questions = [TextRequest("bert", (each,), methods) for each in texts]
    jobs = [
        partial(drawn, partial(explained, question=question), Visit(studio, reader=f"reader {number % 3}"))
        for number, question in enumerate(questions)
    ]
    for question, of_page in zip(questions, together(*jobs), strict=True):
        alone = pellucid.explain_all(bert, question.example, methods)
        for title in methods:
            np.testing.assert_allclose(of_page[title][0].scores, alone[title][0].scores, atol=1e-6)
    assert len(studio.desks["bert"]._threads) > 1


@pytest.mark.parametrize("texts", ["A gripping, lovely film that nobody should miss.", "fine " * 30 + "dull"])
def test_the_slider_is_the_metric_at_every_cut(bert, texts):
    explanations = [pellucid.explain(bert, [texts], method)[0] for method in ("occlusion", "integrated_gradients")]
    cuts = hidden_words(bert, explanations)
    batch = bert.encode([explanations[0].example])
    for explanation in explanations:
        case = Case(bert, batch, [explanation], scheduler_for(bert))
        if len(case.orders("word")[0]) == 1:  # of tied words the metric takes the mean over orders
            curve = hiding(case, reference="prediction").curve[0]
            answers = cuts.most[explanation.method].values.argmax(1)
            np.testing.assert_array_equal(curve, answers == answers[0])
    whole = pellucid.predict(bert, [texts])[0].probabilities
    for every in (*cuts.most.values(), *cuts.least.values(), *cuts.random):
        np.testing.assert_allclose(every.values[0], whole, atol=1e-5)


def test_a_click_hides_the_word_that_the_slider_hides(studio, bert):
    key = sent(studio, text="A gripping, lovely film.", method=["occlusion"])
    html = page(studio, key, slider="yes")
    data = json.loads(unescape(re.search(r'data-cuts="([^"]*)"', html)[1]))
    first = data["most"]["occlusion"]["order"][0]
    assert re.search(rf'href="\.\./text/{key}\?hidden={first}&amp;slider=yes#words"', html)
    explanation = pellucid.explain(bert, ["A gripping, lovely film."], "occlusion")[0]
    one_less = data["counts"].index(1)
    np.testing.assert_allclose(
        without_words(bert, explanation, [first])[1], data["most"]["occlusion"]["values"][one_less], atol=1e-3
    )
    clicked = page(studio, key, hidden=str(first))
    assert clicked.count("st-word st-out") == 1 and "was " in clicked


def test_words_that_flip_the_answer_alone_are_those_whose_hiding_does(sums):
    texts = (
        "fine film",
        "wild quiet river",
        "dull plot with a lovely end",
        "tired actors",
        "a lovely film of a dull day",
    )
    studio, seen = Studio({"sums": sums}), set()
    for text_of_page in texts:
        html = page(studio, sent(studio, text=text_of_page, method=["occlusion"]), slider="yes")
        explanation = pellucid.explain(sums, [text_of_page], "occlusion")[0]
        answers = [without_words(sums, explanation, [word]) for word in range(len(text_of_page.split()))]
        flipping = {word for word, (whole, without) in enumerate(answers) if whole.argmax() != without.argmax()}
        listing = re.search(r'<ul class="st-singles">(.*?)</ul>', html)[1]
        shown = set(map(int, re.findall(r"hidden=(\d+)", listing)))
        assert ("No single word flips" in html) == (not flipping)
        assert shown == flipping if flipping else len(shown) == 1
        seen.add(bool(flipping))
    assert seen == {True, False}


def test_of_a_long_text_the_words_that_rank_highest_are_hidden_alone(sums, monkeypatch):
    monkeypatch.setattr("pellucid.studio.hidden_words.MOST_ALONE", 3)
    explanation = pellucid.explain(sums, ["a lovely film of a dull day"], "occlusion")[0]
    cuts = hidden_words(sums, [explanation])
    assert list(cuts.alone) == list(cuts.most["occlusion"].order[:3])


def test_edits_and_twins_stand_under_the_tab_of_texts(studio):
    for view, current in (("text", "page"), ("edit", "true"), ("twin", "true")):
        html = framed(Visit(studio, view), Page("", []))
        assert f'aria-current="{current}">Text</a>' in html and html.count("aria-current") == 1


def test_a_long_computation_is_stopped_by_its_reader():
    stopped = threading.Event()

    def slow(texts):
        time.sleep(0.02 if len(texts[0]) < 9 or stopped.is_set() else 0.2)
        return [[0.4, 0.6]] * len(texts)

    studio = Studio({"slow": pellucid.from_function(slow, ["bad", "good"])})
    browser = Browser(studio)
    headers = {**browser.entrance(), **SENT}
    address = browser.now("POST", "/text", headers, b"text=" + b"+".join(b"word%d" % n for n in range(60)))
    target = address.headers["location"].removeprefix(".")
    waiting = browser.now("GET", target, headers).html
    assert "Stop</button>" in waiting
    assert "Stop</button>" not in browser.now("GET", target, {**browser.entrance("another"), **SENT}).html
    (job,) = [job for job in studio.desks["slow"]._jobs.values() if not job.finished.is_set()]
    body = f"stop={re.search(r'name=.stop. value=.([0-9a-f]+)', waiting)[1]}".encode()
    after = browser.now("POST", target, headers, body)
    assert "<h1>Stopped</h1>" in after.html and f"{target[1:]}?ask=yes" in after.html and "refresh" not in after.html
    assert job.finished.wait(30) and isinstance(job.error, ReaderLeft)
    assert "Explain it all the same" in browser.now("GET", f"{target}?ask=yes", headers).html


def test_a_legend_names_the_class_that_is_explained_instead_of_the_answer(studio, bert):
    answer = pellucid.predict(bert, ["A fine film."])[0].label
    rival = next(label for label in bert.labels if label != answer)
    pages = {target: page(studio, sent(studio, text="A fine film.", target=target)) for target in ("predicted", rival)}
    assert "Every row: against <bdi>the answer</bdi>" in pages["predicted"]
    assert "Every row: against <bdi>the answer</bdi>" not in pages[rival] and "Fewest that flip it" not in pages[rival]
    assert f'The answer: <strong class="st-now"><bdi>{answer}</bdi>' in pages[rival]


def test_a_text_that_takes_long_asks_first(bert):
    studio = Studio({"bert": bert})
    key = sent(studio, text="A fine film. " * 20, method=["occlusion"])
    studio.paces["bert"] = 1.0  # seconds a word and pass
    asks = framed(Visit(studio), text(Visit(studio, path=(key,), reader="reader")))
    assert "about 60 min" in asks and f"../text/{key}?anyway=yes" in asks and "st-hiding" not in asks
    assert "st-hiding" in page(studio, key, anyway="yes")
    assert "st-hiding" in page(studio, key)  # it is explained now


def test_the_first_text_of_a_model_which_warms_it_up_does_not_spoil_later_estimates(bert):
    studio = Studio({"bert": bert})
    for pace in (0.9, 0.1, 0.3):
        _learn_pace(studio, "bert", pace)
    assert studio.paces["bert"] == pytest.approx(0.2)


def test_the_saved_report_is_that_of_the_command(studio, bert, tmp_path):
    key = sent(studio, text=TEXT, method=["occlusion", "gradient_x_input"])
    file = report_of(drawn(text, Visit(studio, path=(key,), reader="reader")))
    side_by_side = pellucid.explain_all(bert, pellucid.Example((TEXT,)), ["occlusion", "gradient_x_input"])
    pellucid.report(side_by_side, path=tmp_path / "page.html")
    assert file.content == (tmp_path / "page.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        ({"text": "   "}, "The text is empty"),
        ({"text": "x" * (CHARACTERS + 1)}, f"{CHARACTERS + 1:,} characters, and this page takes {CHARACTERS:,}"),
        ({"text": "fine", "method": ["<b>"]}, "No attribution method is called '<b>'"),
        ({"text": "fine", "model": "twin"}, "No model is called 'twin'"),
        ({"text": "fine", "target": "nobody"}, "no such class"),
    ],
)
def test_a_bad_question_ends_in_a_sentence(studio, fields, sentence):
    with pytest.raises(pellucid.PellucidError, match=re.escape(sentence)):
        sent(studio, **fields)


@pytest.mark.parametrize("query", [{"hidden": "7000"}, {"hidden": "-1"}, {"hidden": "a"}, {"answer": "x"}])
def test_an_odd_address_ends_in_a_sentence(studio, query):
    key = sent(studio, text="A gripping, lovely film.", method=["occlusion"])
    with pytest.raises(BadInput):
        page(studio, key, **query)


def test_a_key_is_of_a_text_and_cannot_be_guessed(studio):
    keys = {studio.requests.add(TextRequest("bert", (word,))) for word in ("one", "two")}
    assert len(keys) == 2 and studio.requests.add(TextRequest("bert", ("one",))) in keys
    assert Studio({}).requests.add(TextRequest("bert", ("one",))) not in keys
    with pytest.raises(BadInput, match="This text is not here"):
        studio.requests["0" * 24]


def test_passes_are_read_from_the_registered_cost():
    assert passes_of("occlusion", 12) == 12
    assert passes_of("integrated_gradients", 12) == 64
    assert passes_of("shapley_sampling", 10) == 240
    assert passes_of("chance", 10) == 0
    assert all(passes_of(method, 10) > 0 for method in attributions.names() if method != "chance")
