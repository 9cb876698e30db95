"""The view of a twin: its numbers are those of `explain_all` of both texts for one class, on one scale."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import pellucid
from pellucid.base.errors import BadInput
from pellucid.drawing.emphasis import full_colour
from pellucid.drawing.heat_map import drawable_view, units_in_order
from pellucid.drawing.wording import percent, signed
from pellucid.studio.beside import aligned
from pellucid.studio.frame import framed
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.views.edit import edit
from pellucid.studio.views.models import models
from pellucid.studio.views.twin import score_changes, twin
from pellucid.studio.visit import Visit
from tests.shared.parsed import parsed
from tests.studio.test_every_kind import KINDS
from tests.studio.test_text_view import drawn

BEFORE, AFTER = "A lovely film <b> with a story.", "A dull film <b> with a story."
METHODS = ("occlusion", "lime")


def answer(texts):
    lovely = np.array([1.5 * ("lovely" in text) - 2.0 * ("dull" in text) + 0.3 * ("story" in text) for text in texts])
    return np.stack([1 / (1 + np.exp(lovely)), 1 / (1 + np.exp(-lovely))], 1)


@pytest.fixture(scope="module")
def studio():
    return Studio({"function": pellucid.from_function(answer, ["no", "yes"])})


def keys_of(studio, *texts):
    keys = []
    for text in texts:
        question = TextRequest("function", (text,), METHODS, before=keys[-1] if keys else "")
        keys.append(studio.requests.add(question))
    return keys


def page(studio, *keys):
    visit = Visit(studio, view="twin", path=keys, reader="reader")
    return parsed(framed(visit, drawn(twin, visit)).removeprefix("<!doctype html>"))


def test_both_texts_have_the_scores_of_the_first_answer_on_one_scale(studio):
    tree = page(studio, *keys_of(studio, BEFORE, AFTER))
    model = studio.model("function")
    before, after = pellucid.explain_all(model, [BEFORE, AFTER], METHODS, target="yes").by_text
    rows = list(tree.every(css_class="pl-row"))
    assert len(rows) == len(METHODS)
    for row, pair in zip(rows, zip(before, after, strict=True), strict=True):
        shown = [drawable_view(explanation) for explanation in pair]
        scale = max(map(full_colour, shown))
        for block, view in zip(row.every(css_class="pl-text"), shown, strict=True):
            expected = [f"{signed(u.score / scale)} (raw {signed(u.score)})" for u in units_in_order(view)]
            assert [unit.attributes["title"] for unit in block.every(css_class="pl-u")] == expected
        boxed = [unit.text for unit in row.every(css_class="st-changed")]
        assert boxed == ["lovely", "dull"]


def test_the_bars_are_both_answers_and_the_table_the_largest_changes(studio):
    tree = page(studio, *keys_of(studio, BEFORE, AFTER))
    both = pellucid.predict(studio.model("function"), [BEFORE, AFTER])
    cells = [cell.text.strip() for cell in next(tree.every("table", "st-both")).every("td")]
    assert cells == [percent(side.probabilities[index]) for index in (0, 1) for side in both]
    first, second = (
        pellucid.explain(studio.model("function"), text, "occlusion", target="yes")[0] for text in (BEFORE, AFTER)
    )
    changes = [(old.text, new.text, new.score - old.score) for old, new in score_changes(first, second)]
    lovely, dull = (np.log(answer([text])[0, 1] / answer(["A story"])[0, 1]) for text in ("lovely story", "dull story"))
    assert changes[1] == ("lovely", "dull", pytest.approx(dull - lovely, abs=1e-5)) and len(changes) == 10
    row = next(next(next(tree.every(css_class="pl-row")).every("tbody")).every("tr"))
    assert next(cell.text for cell in row.every()) == "“lovely” → “dull”"
    assert [cell.text for cell in row.every("td")] == [signed(lovely), signed(dull), signed(dull - lovely)]


def test_edits_so_far_lead_back_to_the_first_text(studio):
    keys = keys_of(studio, BEFORE, AFTER, AFTER.replace("story", "plot"), AFTER.replace("with a story", "plot"))
    entries = [item.text for item in next(page(studio, keys[0], keys[-1]).every("ol")).every("li")]
    assert [entry.partition(".")[0] for entry in entries] == [
        "Changed: “lovely” → “dull”",
        "Changed: “story” → “plot”",
        "Changed: “with” taken out, “a” taken out",
    ]


@given(st.lists(st.sampled_from("abc"), max_size=12), st.lists(st.sampled_from("abc"), max_size=12))
def test_every_word_is_aligned_once_in_order_and_equal_ends_with_each_other(before, after):
    pairs = aligned([(0, word) for word in before], [(0, word) for word in after])
    for side, words in ((0, before), (1, after)):
        assert [pair[side] for pair in pairs if pair[side] is not None] == list(range(len(words)))
    if before == after:
        assert pairs == [(index, index) for index in range(len(before))]


def test_texts_that_are_no_edit_of_each_other_end_in_a_sentence(studio):
    key = keys_of(studio, BEFORE)[0]
    pair = studio.requests.add(TextRequest("function", ("A film.", "It is dull.")))
    for path, sentence in (((key,), "names no two texts"), ((key, pair), "no edit of each other")):
        with pytest.raises(BadInput, match=sentence):
            drawn(twin, Visit(studio, path=path, reader="reader"))


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_model_is_edited_and_compared(kind):
    make, segments = KINDS[kind]
    studio = Studio({kind: make(), "another": pellucid.from_function(answer, ["no", "yes"])})
    key = studio.requests.add(TextRequest(kind, segments, ("occlusion",)))
    visit = Visit(studio, path=(key,), query={"word": "1"}, reader="reader")
    assert "st-line" in framed(visit, drawn(edit, visit))
    drawn(edit, Visit(studio, path=(key,), query={"word": "1"}, form={"replacement": ["dull"]}, reader="reader"))
    edited = (segments[0].replace(segments[0].split()[1], "dull", 1), *segments[1:])
    path = (key, studio.requests.add(TextRequest(kind, edited, ("occlusion",), before=key)))
    html = framed(visit, drawn(twin, Visit(studio, path=path, reader="reader")))
    assert "“dull”" in html and "pl-row" in html
    assert "Second model" in framed(visit, drawn(models, Visit(studio, path=(key,), reader="reader")))
