"""Texts far longer than the model: read in windows, by every method that is quick enough, in bounded time."""

import pytest
from hypothesis import strategies as st

import pellucid
from tests.hostile.generated import generated
from tests.hostile.promises import drawn_safely, kept, printed_safely, right
from tests.hostile.strategies import MARKUP, SCRIPTS, WORDS
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
    found = explained(tiny_models[kind], [" ".join(words)], method)
    for explanation in found:
        right(explanation)
    if found:
        drawn_safely(found, folder)


@pytest.mark.long
@pytest.mark.parametrize(
    ("kind", "method"),
    [(kind, method) for kind in ("bert", "roberta") for method in ("gradient", "attention", "chance")]
    + [("span", "span_attention")],
)
def test_ten_thousand_words_are_explained_kept_and_drawn(tiny_models, folder, kind, method):
    text = " ".join(["A fine <b>film</b>, or not?"] * 2000)
    found = pellucid.explain(tiny_models[kind], text, method)
    right(found[0])
    assert found[0].diagnostics["windows"] > 100
    kept(found, folder, [".json", ".parquet"])
    drawn_safely(found, folder)
    printed_safely(found)
