"""Any text is explained, saved, read and drawn: the result is correct, or an error says what is wrong."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import strategies as st

import pellucid
from pellucid.base.errors import BadInput, PellucidError
from pellucid.drawing.html import plain, visible
from pellucid.text.units import KINDS, text_units
from tests.hostile.assertions import (
    assert_drawn_safely,
    assert_good_message,
    assert_printed_safely,
    assert_round_trip,
    assert_valid,
)
from tests.hostile.generated_cases import generated
from tests.hostile.input_strategies import MARKUP, SPECIAL_TOKENS, names, texts, texts_or_pairs
from tests.shared.asking import works
from tests.shared.tiny import tiny_classifier

METHODS = (
    "gradient",
    "gradient_x_input",
    "attention",
    "chance",
    "occlusion",
    "span_attention",
    ("integrated_gradients", {"n_steps": 2}),
    ("chance", {"n_draws": 2, "unit": "sentence"}),
    ("attention", {"flow": "rollout"}),
)
TARGETS = (
    ("predicted", "logit"),
    ("predicted", "probability"),
    ("positive", "loss"),
    (("positive", 0), "logit"),
)
LONG = 200  # characters a text, where every word is a pass of the model
ENDINGS = st.sampled_from([".json", ".parquet"])


def explained(model, examples, method, target=("predicted", "logit")):
    """The explanations, or none after an error that says what is wrong."""
    name, settings = (method, {}) if isinstance(method, str) else method
    try:
        return pellucid.explain(model, examples, name, target=target[0], output=target[1], progress=False, **settings)
    except PellucidError as error:
        assert_good_message(error)
        return []


@generated(
    80,
    4000,
    text=texts_or_pairs(),
    kind=st.sampled_from(["bert", "span", "roberta", "xlm_roberta", "albert", "mpnet", "deberta_v3", "modernbert"]),
    method=st.sampled_from(METHODS),
    target=st.sampled_from(TARGETS),
    ending=ENDINGS,
)
def test_any_text_is_explained_saved_and_drawn_or_refused(*, tiny_models, folder, text, kind, method, target, ending):
    model = tiny_models[kind]
    name = method if isinstance(method, str) else method[0]
    if not works(name, model) or (name in ("occlusion", "integrated_gradients") and len(str(text)) > LONG):
        method = "gradient"
    explanations = explained(model, [text], method, target)
    for explanation in explanations:
        assert explanation.example.segments == (text if isinstance(text, tuple) else (text,))
        assert_valid(explanation)
    if explanations:
        assert_round_trip(explanations, folder, [ending])
        assert_drawn_safely(explanations, folder)
        assert_printed_safely(explanations)


@generated(10, 300, examples=st.lists(texts_or_pairs(), max_size=5), method=st.sampled_from(METHODS[:4]))
def test_texts_beside_each_other_are_explained_or_one_is_named(tiny_models, folder, examples, method):
    explanations = explained(tiny_models["bert"], examples, method)
    assert len(explanations) in (0, len(examples))
    for explanation in explanations:
        assert_valid(explanation)
    if explanations:
        assert_drawn_safely(explanations, folder)


@generated(
    10,
    300,
    count=st.one_of(st.integers(1, 12), st.sampled_from([100, 999, 1000])),
    stem=names(),
    problem=st.sampled_from([None, "single_label", "multi_label", "regression", "one_logit", "", "gelu"]),
    target=st.one_of(names(surrogates=True), st.integers(-2, 1001), st.sampled_from(["predicted", "gold"])),
)
def test_any_number_of_classes_with_any_names(folder, count, stem, problem, target):
    labels = tuple(f"{stem}{number}" for number in range(count))
    try:
        loaded = tiny_classifier("bert", labels)
        model = pellucid.load(loaded.network, loaded.tokenizer, problem=problem)
    except PellucidError as error:
        assert_good_message(error)
        return
    for label in (target, model.labels[-1]):
        explanations = explained(model, ["A fine film."], "gradient", (label, "logit"))
        for explanation in explanations:
            assert_valid(explanation)
            assert_round_trip([explanation], folder, [".json"])
            assert_drawn_safely([explanation], folder)
            assert_printed_safely([explanation])


@generated(100, 1000, text=texts(surrogates=False), kind=st.sampled_from([kind for kind in KINDS if kind != "piece"]))
def test_the_units_of_any_text_are_in_order_and_cover_what_is_visible(text, kind):
    places = text_units(text, kind)
    assert all(start < end for start, end in places)
    assert all(end <= start for (_, end), (start, _) in pairwise(places))
    covered = np.zeros(len(text), dtype=bool)
    for start, end in places:
        covered[start:end] = True
    assert all(covered[place] or character.isspace() for place, character in enumerate(text))


@generated(100, 1000, text=texts())
def test_escaping_a_text_twice_changes_nothing_and_it_can_be_written(text):
    for clean in (visible, plain):
        once = clean(text)
        assert clean(once) == once
        once.encode("utf-8")
    assert len(visible(text)) == len(text)


@pytest.mark.parametrize("family", ["roberta", "xlm_roberta", "mpnet"])
def test_a_text_that_spells_the_padding_of_robertas_family_is_refused_with_the_reason(tiny_models, family):
    with pytest.raises(BadInput, match="spells <pad>"):
        pellucid.explain(tiny_models[family], "a <pad> film", "gradient")


@pytest.mark.parametrize("text", [*SPECIAL_TOKENS, *MARKUP])
def test_special_tokens_and_markup_are_texts_like_any_other(tiny_models, folder, text):
    for model in (tiny_models["bert"], tiny_models["span"]):
        explanations = pellucid.explain(model, text, "gradient")
        assert_valid(explanations[0])
        assert_drawn_safely(explanations, folder)
