"""Every method explains every kind of target, or refuses it in a sentence: places in texts, several labels, pairs, values,
numbers beside words, linear models.
"""

import re
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import pandas
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from transformers import pipeline

import pellucid
from pellucid.base.errors import PellucidError
from pellucid.base.kinds import attributions
from pellucid.run.model import lacking
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import evaluate_rows
from pellucid.run.target import ResolvedTarget
from pellucid.text.example import Example
from tests.shared.asking import FEW, reads_states
from tests.shared.tiny import TOKENIZERS, network_for_pieces, tiny_classifier, tiny_network

METHODS = attributions.names()
TEXTS = ["Mona saw Oslo.", "A dull film"]
QUESTIONS = [Example(("Who saw it?", TEXTS[0]), id="a"), Example(("Who?", TEXTS[1]), id="b")]
PAIRS = [("A film.", TEXTS[0]), ("Tom", TEXTS[1])]
MASKED = ["A lovely [MASK].", "The [MASK] of the [MASK], said Tom."]
LABELS = ("leave", "stay")
TRAINING = ["a lovely film", "a dull film", "Mona saw Oslo", "said Tom"]


@dataclass(frozen=True, eq=False)
class Kind:
    """What is explained: a model, two texts, and what the door is told besides. answer: a part of each text."""

    model: Any
    texts: Any
    target: Any = "predicted"
    answer: list[str] | None = None

    def explained(self, method, count=2, **settings):
        """Explanations of the first texts by a method, with few steps and samples."""
        answer = self.answer and self.answer[:count]
        how = {"target": self.target, "answer": answer, "progress": False}
        return pellucid.explain(self.model, self.texts[:count], method, **how, **FEW.get(method, {}), **settings)


def pieces(network, texts, target="predicted", answer=None):
    return Kind(pellucid.load(network_for_pieces(network, "bert"), TOKENIZERS["bert"]()), texts, target, answer)


def several_labels():
    model = tiny_classifier("bert", ("film", "sea"), problem_type="multi_label_classification")
    return Kind(model, TEXTS, "all")


def zero_shot(multi_label):
    classes = ("contradiction", "neutral", "entailment")
    names = {"id2label": dict(enumerate(classes)), "label2id": {name: n for n, name in enumerate(classes)}}
    zero = pipeline("zero-shot-classification", model=tiny_network("bert", 3, **names), tokenizer=TOKENIZERS["bert"]())
    return Kind(pellucid.zero_shot(zero, labels=("films", "the sea"), multi_label=multi_label), TEXTS)


def similarity():
    return Kind(pellucid.similarity(tiny_network("bert").base_model, TOKENIZERS["bert"]()), PAIRS)


def reranking():
    network = tiny_network("bert", 1, id2label={0: "relevance"}, label2id={"relevance": 0})
    return Kind(pellucid.load(network, TOKENIZERS["bert"](), problem="regression"), PAIRS)


def stars(texts):
    return [len(text) / 10 + ("lovely" in text) - ("dull" in text) for text in texts]


def value():
    return Kind(pellucid.from_function(stars, ["stars"], problem="regression"), TEXTS)


def triage(frame):
    """Probabilities of (leave, stay) by a word and a number."""
    stay = 1 / (1 + np.exp(-((frame["age"] - 60) / 20 + frame["text"].str.contains("dull")).to_numpy(dtype=float)))
    return np.stack([1 - stay, stay], 1)


def text_and_numbers():
    background = pandas.DataFrame({"age": [20, 40, 60, 80]})
    model = pellucid.from_function(triage, LABELS, columns=["age"], background=background)
    return Kind(model, pandas.DataFrame({"text": TEXTS, "age": [81, 30]}))


def linear(model, labels):
    return Kind(pellucid.from_pipeline(make_pipeline(TfidfVectorizer(), model).fit(TRAINING, labels)), TEXTS)


KINDS = {
    "token class": lambda: pieces("TokenClassification", TEXTS, "I-LOC", ["saw", "dull"]),
    "entity": lambda: pieces("TokenClassification", TEXTS),
    "answer": lambda: pieces("QuestionAnswering", QUESTIONS),
    "start of an answer": lambda: pieces("QuestionAnswering", QUESTIONS, "start"),
    "end of an answer": lambda: pieces("QuestionAnswering", QUESTIONS, "end"),
    "masked word": lambda: pieces("MaskedLM", MASKED),
    "one word against another": lambda: pieces("MaskedLM", MASKED, ("tea", "she")),
    "several labels": several_labels,
    "zero-shot": lambda: zero_shot(False),
    "zero-shot, several labels": lambda: zero_shot(True),
    "similarity": similarity,
    "reranking": reranking,
    "value": value,
    "text and numbers": text_and_numbers,
    "linear": lambda: linear(LogisticRegression(), ["good", "bad", "good", "bad"]),
    "linear value": lambda: linear(Ridge(), [5.0, 1.0, 4.0, 3.0]),
}


pytestmark = pytest.mark.whole


@cache
def kind_of(name):
    return KINDS[name]()


def refusal_of(method, kind):
    """Why a method may refuse a kind; "" where it has to work."""
    facts = attributions.get(method).facts
    if lacks := lacking(kind.model, facts["needs"]):
        return lacks
    if reads_states(method):
        return "explains hidden states, not a class"
    if FEW.get(method, {}).get("layer") is not None:
        return lacking(kind.model, {"hidden_states"})
    if facts["needs"]:
        return ""
    pads = method.startswith("thermostat_") and kind.model.blank_ids()["pad"] is None
    return "has no pad token" if pads else ""


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_every_method_explains_every_kind_of_target_or_says_why_not(method, name):
    kind = kind_of(name)
    if reason := refusal_of(method, kind):
        with pytest.raises(PellucidError, match=re.escape(reason)) as refused:
            kind.explained(method)
        assert "\n" not in str(refused.value) and str(refused.value).endswith(".")
        return
    together, alone = kind.explained(method), kind.explained(method, 1)
    for explanation in together:
        rows = [len(labels) for _, labels in explanation.rows]
        assert explanation.scores.shape == (*rows, len(explanation.units))
        assert np.isfinite(explanation.scores).all()
    assert 1 <= len(alone) < len(together)
    for ours, theirs in zip(alone, together, strict=False):
        assert (ours.units, str(ours.target)) == (theirs.units, str(theirs.target))
        room = 1e-5 * max(1.0, float(np.abs(theirs.scores).max()))
        np.testing.assert_allclose(ours.scores, theirs.scores, rtol=0, atol=room)


COMPLETE = [name for name in METHODS if attributions.get(name).facts["complete"]]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("method", COMPLETE)
def test_complete_methods_add_up_for_every_kind_of_target(method, name):
    kind = kind_of(name)
    if refusal_of(method, kind):
        pytest.skip("refused")
    by_path = "n_steps" in attributions.get(method).defaults
    settings = {"tolerance": 0.01} if {"n_steps", "tolerance"} <= set(attributions.get(method).defaults) else {}
    for explanation in kind.explained(method, 1, **settings):
        if by_path:
            assert explanation.diagnostics["completeness_gap"] <= 0.01
        else:
            rise = explanation.target.value - value_of_nothing(kind.model, explanation, method)
            assert float(explanation.scores.sum()) == pytest.approx(rise, abs=1e-4)


def value_of_nothing(model, explanation, method):
    """The explained value of the text with all units taken out."""
    batch = model.encode([explanation.example])
    operator = (
        "pad" if method.startswith("thermostat_") else attributions.get(method).defaults.get("operator", "absent")
    )
    row = batch.edited(0, batch.units[0].content, operator)
    against = explanation.target.against
    others = None if against is None else (model.labels.index(against),)
    output = explanation.target.output if explanation.target.output != "log-likelihood" else "logit"
    target = ResolvedTarget((model.labels.index(explanation.target.label),), others, output, model.problem)
    return float(target.values(evaluate_rows(model, scheduler_for(model), [row]))[0])
