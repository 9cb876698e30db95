"""Every kind of model that the doors take is drawn by the view of a text, or ends in a sentence of ours."""

import pytest

import pellucid
from pellucid.studio.frame import framed
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.views.text import text
from pellucid.studio.visit import Visit
from tests.shared.tiny import TOKENIZERS, network_for_pieces, tiny_classifier, tiny_composed, tiny_network
from tests.shared.tiny_writing import tiny_writing
from tests.studio.test_text_view import page

TEXT = "Mona saw a lovely film of Oslo Lima with Tom."
PAIR = ("Who saw a film?", "Mona saw a lovely film of Oslo. It was dull, said Tom.")


def of_pieces(kind):
    return lambda: pellucid.load(network_for_pieces(kind, "bert"), TOKENIZERS["bert"]())


def by_length(texts):
    return [[len(text) / 10.0] for text in texts]


def about_good(texts):
    return [[0.1, 0.9] if "lovely" in text else [0.8, 0.2] for text in texts]


def chat():
    model = tiny_writing("llama")
    model.tokenizer.chat_template = "{% for m in messages %}{{ m.role }}: {{ m.content }} {% endfor %}"
    return model


KINDS = {
    "tagger": (of_pieces("TokenClassification"), (TEXT,)),
    "reader of answers": (of_pieces("QuestionAnswering"), PAIR),
    "masked word": (of_pieces("MaskedLM"), ("Mona saw a [MASK] film.",)),
    "value": (lambda: pellucid.from_function(by_length, ["length"], problem="regression"), (TEXT,)),
    "function": (lambda: pellucid.from_function(about_good, ["no", "yes"]), (TEXT,)),
    "similarity": (
        lambda: pellucid.similarity(tiny_network("bert").base_model, TOKENIZERS["bert"]()),
        ("A lovely film.", "A film that is fine."),
    ),
    "spans": (lambda: tiny_composed("span"), (TEXT,)),
    "several labels": (lambda: tiny_classifier("bert", problem_type="multi_label_classification"), (TEXT,)),
    "encoder and decoder": (lambda: tiny_writing("bart"), (TEXT,)),
    "language model": (lambda: tiny_writing("gpt2"), (TEXT, "fine")),
    "chat": (chat, ("Was the soup cold?", "No.")),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_is_drawn(kind):
    make, segments = KINDS[kind]
    studio = Studio({kind: make()})
    first = text(Visit(studio, reader="reader"))
    assert "st-form" in framed(Visit(studio, reader="reader"), first)
    key = studio.requests.add(TextRequest(kind, segments, is_chat=kind == "chat"))
    html = page(studio, key, slider="yes")
    assert "st-slider" in html or "cannot be hidden here" in html
