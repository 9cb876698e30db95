"""Texts far longer than the model: read in windows, by every method that is quick enough, in bounded time."""

import pytest
from hypothesis import strategies as st

import pellucid
from tests.hostile.assertions import (
    assert_drawn_safely,
    assert_printed_safely,
    assert_round_trip,
    assert_valid,
)
from tests.hostile.generated_cases import generated
from tests.hostile.input_strategies import MARKUP, SCRIPTS, WORDS
from tests.hostile.test_texts import explained

WORD = st.sampled_from([*WORDS, *MARKUP, *SCRIPTS, "\u202e", "\x00", "x" * 300])


@generated(
    2,
    60,
    words=st.lists(WORD, min_size=40, max_size=120),
    kind=st.sampled_from(["bert", "span", "roberta", "xlm_roberta", "deberta_v3", "modernbert"]),
    method=st.sampled_from(["gradient", "attention", "chance"]),
)
def test_texts_of_several_windows_are_explained(tiny_models, folder, words, kind, method):
    explanations = explained(tiny_models[kind], [" ".join(words)], method)
    for explanation in explanations:
        assert_valid(explanation)
    if explanations:
        assert_drawn_safely(explanations, folder)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "method"),
    [(kind, method) for kind in ("bert", "roberta") for method in ("gradient", "attention", "chance")]
    + [("span", "span_attention")],
)
def test_ten_thousand_words_are_explained_saved_and_drawn(tiny_models, folder, kind, method):
    text = " ".join(["A fine <b>film</b>, or not?"] * 2000)
    explanations = pellucid.explain(tiny_models[kind], text, method)
    assert_valid(explanations[0])
    assert explanations[0].diagnostics["windows"] > 100
    assert_round_trip(explanations, folder, [".json", ".parquet"])
    assert_drawn_safely(explanations, folder)
    assert_printed_safely(explanations)
