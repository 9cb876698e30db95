"""The view of two models: both answers, and an agreement that is scipy's of the scores of `explain_all`."""

import re

import numpy as np
import pytest
from scipy.stats import kendalltau

import pellucid
from pellucid.base.errors import UnknownName
from pellucid.drawing.wording import percent
from pellucid.studio.clickable_words import clickable_words
from pellucid.studio.frame import framed
from pellucid.studio.hidden_words import without_words
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.views.models import models, tau_by_luck
from pellucid.studio.visit import Elsewhere, Visit
from pellucid.versions.command import two
from tests.attacks.word_sums import sum_model
from tests.shared.parsed import parsed
from tests.shared.tiny_writing import tiny_writing
from tests.studio.test_text_view import drawn

TEXT = "The lovely film had a <b>wonderful</b> quiet story about a wild river."


@pytest.fixture(scope="module")
def studio(bert, self_explaining):
    sums = sum_model(), sum_model(together=0.4)
    return Studio(
        {"bert": bert, "spans": self_explaining, "sums": sums[0], "pairs": sums[1], "writes": tiny_writing("gpt2")}
    )


def page(studio, model, text=TEXT, methods=("occlusion",), **query):
    key = studio.requests.add(TextRequest(model, (text,), methods))
    visit = Visit(studio, view="models", path=(key,), query=query, reader="reader")
    return parsed(framed(visit, drawn(models, visit)).removeprefix("<!doctype html>"))


def test_both_answers_and_their_agreement_are_those_of_the_doors(studio):
    tree = page(studio, "sums", methods=("occlusion", "lime"), other="pairs", target="positive")
    pair = [studio.model(name) for name in ("sums", "pairs")]
    answers = [pellucid.predict(model, [TEXT])[0].probabilities for model in pair]
    whose = [next(line.every("strong")).text for line in tree.every("p", "st-trust")]
    assert whose == ["sums", "pairs"], "each model has its own line of trust"
    cells = [cell.text.strip() for cell in next(tree.every("table", "st-both")).every("td")]
    assert cells == [percent(side[index]) for index in (0, 1) for side in answers]
    verdicts = [verdict.text for verdict in tree.every(css_class="st-verdict")]
    first, second = (pellucid.explain_all(model, [TEXT], ["occlusion", "lime"], target="positive") for model in pair)
    for verdict, method in zip(verdicts, first, strict=True):
        scores = [[score for _, score in side[method][0]] for side in (first, second)]
        tau = kendalltau(*scores).statistic
        count, shown, luck = re.search(r"the (\d+) words agree by (\S+) .*±(\S+) or more", verdict).groups()
        assert (int(count), shown, luck) == (len(scores[0]), two(tau), two(tau_by_luck(len(scores[0]))))
        assert ("no more alike" in verdict) == (abs(tau) < tau_by_luck(len(scores[0])))
        top = len(set(np.argsort(scores[0])[-3:]) & set(np.argsort(scores[1])[-3:]))
        assert f"they share {top}; by luck, {9 / len(scores[0]):.2g}." in verdict
    assert len(list(tree.every(css_class="pl-map"))) == 4 and "<b>" in tree.text


def test_unrelated_orders_pass_the_bound_of_luck_in_one_case_of_twenty():
    random = np.random.default_rng(0)
    for words in (8, 20):
        orders = random.permuted(np.tile(np.arange(words), (4000, 1)), axis=1)
        signs = np.sign(orders[:, :, None] - orders[:, None])[:, *np.triu_indices(words, 1)]
        taus = -signs.mean(1)  # without ties tau-b is that of pairs
        assert 0.03 < np.mean(np.abs(taus) >= tau_by_luck(words)) < 0.07


def test_a_click_hides_a_word_from_both_models_and_shows_both_answers(studio):
    tree = page(studio, "bert", other="sums")
    words = {node.text: node.attributes["href"] for node in tree.every("a", "st-word")}
    number = re.search(r"hidden=(\d+)", words["wonderful"])[1]
    tree = page(studio, "bert", other="sums", hidden=number)
    assert [node.text for node in tree.every("a", "st-out")] == ["wonderful"]
    table = next(tree.every("table", "st-both"))
    shown = {row.every("th").__next__().text: [cell.text for cell in row.every("td")] for row in table.every("tr")}
    for index, name in enumerate(("bert", "sums")):
        explanation = pellucid.explain(studio.model(name), [TEXT], "occlusion")[0]
        places = clickable_words([explanation])
        ((word, _),) = [pair for pair in enumerate(places) if TEXT[pair[1][1] : pair[1][2]] == "wonderful"]
        whole, without = without_words(studio.model(name), explanation, [word])
        for label, before, after in zip(explanation.prediction.labels, whole, without, strict=True):
            moved = ["was", *percent(before).split()] if percent(before) != percent(after) else []
            assert shown[label][index].split() == [*percent(after).split(), *moved]
    assert [node.text for node in tree.every("dt")][:2] == ["bert", "sums"]
    addresses = [
        node.attributes["href"] for node in tree.every("a") if node.text in ("explain the text", "edit the text")
    ]
    keys = [re.fullmatch(r"\.\./(text|edit)/([0-9a-f]{24})", address).groups() for address in addresses]
    assert [view for view, _ in keys] == ["text", "edit"] * 2
    assert [studio.requests[key].model for _, key in keys] == ["bert"] * 2 + ["sums"] * 2


def test_different_answers_are_compared_by_one_class_alone(studio):
    texts = ("fine film", "wild quiet river", "dull plot", "lovely", "tired actors")
    labels = {
        text: [pellucid.predict(studio.model(name), text)[0].label for name in ("bert", "spans")] for text in texts
    }
    text = next(text for text, pair in labels.items() if len(set(pair)) == 2)
    tree = page(studio, "bert", text, other="spans")
    assert "explain different classes" in tree.text and "different classes are explained" in tree.text
    addresses = [node.attributes["href"] for node in tree.every("a") if "explain both" in node.text]
    assert [re.search("target=([^&#]*)", address)[1] for address in addresses] == labels[text]
    assert "of both" in page(studio, "bert", text, other="spans", target=labels[text][1]).text


def test_a_form_chooses_the_models_and_keeps_what_it_cannot_carry(studio):
    text = "A \u202efilm\u202c\r\nof old."
    key = studio.requests.add(TextRequest("sums", (text,)))
    visit = Visit(studio, view="models", path=(key,), query={"other": "pairs"}, reader="reader")
    tree = parsed(framed(visit, drawn(models, visit)).removeprefix("<!doctype html>"))
    as_shown = next(tree.every("textarea")).text.removeprefix("\n").replace("\n", "\r\n")  # as browsers send it
    for sent, expected in ((as_shown, text), ("new", "new")):
        form = {"model": ["pairs"], "other": ["sums"], "text": [sent], "second": [""]}
        elsewhere = models(Visit(studio, view="models", path=(key,), form=form))
        assert isinstance(elsewhere, Elsewhere)
        new, other = re.fullmatch(r"\.\./models/([0-9a-f]{24})\?other=(\w+)", elsewhere.address).groups()
        assert studio.requests[new] == TextRequest("pairs", (expected,)) and other == "sums"
    with pytest.raises(UnknownName):
        models(Visit(studio, form={"model": ["<b>"], "other": ["sums"], "text": ["fine"]}))


def test_what_cannot_be_compared_ends_in_a_sentence(studio):
    assert "are not compared" in page(studio, "sums", "fine", other="writes").text
    alone = Visit(Studio({"sums": studio.model("sums")}), view="models")
    assert "start the studio with two" in framed(alone, models(alone))
