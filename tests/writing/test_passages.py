"""Passages of a prompt as units: which of them does what the model writes rest on?"""

import re
from dataclasses import replace

import numpy as np
import pytest

import pellucid
from pellucid.base.errors import BadInput, BadSetting
from pellucid.explaining.explained_texts import sent
from pellucid.run.batch import edit
from pellucid.text.example import Example, as_examples
from pellucid.text.passages import passages_in
from tests.shared.tiny import tiny_classifier
from tests.shared.tiny_writing import tiny_writing

PASSAGES = ["A good film about a dog.", "The hotel was kind to us.", "The film is about a dog."]
QUESTION = "Is it good?"
PROMPT = " ".join(PASSAGES[:2]) + f" {PASSAGES[2]}\n\n{QUESTION}"
PAIR = (PROMPT, "A fine story.")
UNITS = (*PASSAGES, QUESTION, "A", "fine", "story", ".")


@pytest.mark.parametrize("kind", ("gpt2", "bart"))
def test_a_passage_scores_the_fall_without_all_of_its_pieces(kind):
    model = tiny_writing(kind)
    target = pellucid.Word("fine")
    (one,) = pellucid.explain(model, [PAIR], "occlusion", target=target, passages=PASSAGES, progress=False)
    texts = [one.units.labels[unit] for unit in one.units.content]
    assert one.units.kind == "passage" and tuple(texts) == UNITS
    batch = model.encode(as_examples([PAIR]))
    fixed = target.resolve(batch, model)
    value = lambda row: float(fixed.values(fixed.readout.answers(model.trace([row]), [row])).detach())  # noqa: E731
    for unit, (start, end) in zip(one.units.content, passages_in(as_examples([PAIR])[0], PASSAGES), strict=False):
        inside = [
            piece
            for piece in batch.units[0].content
            if batch.units[0].segment[piece] == 0 and start <= batch.units[0].start[piece] < end
        ]
        cut = edit(batch.rows[0], inside, "absent", batch.special)
        assert one.scores[unit] == pytest.approx(value(batch.rows[0]) - value(cut), abs=1e-5)


def test_scores_of_pieces_are_added_up():
    model = tiny_writing("gpt2")
    plain = pellucid.explain(model, [PAIR], "gradient_x_input", progress=False)[0]
    (one,) = pellucid.explain(model, [PAIR], "gradient_x_input", passages=PASSAGES, progress=False)
    assert "The hotel was k…" in one.to_html() and re.search("^2 fine .*“A", str(one), re.MULTILINE)
    assert one.scores.shape == (4, len(UNITS)) and one.scores[:, -1].any() == 0
    np.testing.assert_allclose(one.scores.sum(-1), plain.scores.sum(-1), atol=1e-5)
    first = [
        unit
        for unit in plain.units.content
        if plain.units.segment[unit] == 0 and plain.units.end[unit] <= len(PASSAGES[0])
    ]
    np.testing.assert_allclose(one.scores[:, 0], plain.scores[:, first].sum(-1), atol=1e-5)


def test_passages_of_a_classifiers_text_and_of_each_text_by_itself(tmp_path):
    texts = [PROMPT, "Dull. Not good.", PROMPT]
    named = [PASSAGES, ["Dull."], PASSAGES[:1]]
    model = tiny_classifier()
    results = pellucid.explain(model, texts, "kernel_shap", passages=named, progress=False)
    of = [[one.units.labels[unit] for unit in one.units.content] for one in results]
    assert of == [
        [*PASSAGES, QUESTION],
        ["Dull.", "Not good."],
        [PASSAGES[0], PROMPT[len(PASSAGES[0]) + 1 :]],
    ]
    assert [word for word, _ in results[1]] == ["Dull.", "Not good."] and "Not good." in str(results[1])
    pellucid.save(results, tmp_path / "passages.parquet")
    assert list(pellucid.read(tmp_path / "passages.parquet")) == list(results)
    pellucid.report(results, path=tmp_path / "page.html")


BAD = (
    (["A bad film."], {}, BadInput, "The passage 'A bad film.' is not in the first text of example '0'"),
    (
        ["film"],
        {},
        BadInput,
        "'film' stands 2 times in .*; give more of the text around it, or name it 2 times",
    ),
    (["hotel", "hotel"], {}, BadInput, "stands 1 times in .* and was named 2 times"),
    (["good film", "film about"], {}, BadInput, "overlap in the first text"),
    ([" "], {}, BadInput, "A passage of example '0' is blank"),
    ([], {}, BadInput, r"passages=\[\] names none; give a list"),
    ("A good film", {}, BadInput, "names none; give a list of parts"),
    ([3], {}, BadInput, "passages= are strings, or a list of strings for each text"),
    (
        [[]],
        {},
        BadInput,
        "passages= names none for text 0; explain texts without passages in a call of their own",
    ),
    ([["hotel"], ["hotel"]], {}, BadInput, "has 2 lists for 1 texts; give one a text"),
    (["hotel"], {"unit": "sentence"}, BadSetting, "unit='sentence' does not go with passages"),
    (["hotel"], {"method": "chance", "unit": "piece"}, BadSetting, "unit='piece' does not go with passages"),
)


@pytest.mark.parametrize("passages, settings, error, message", BAD)
def test_passages_that_are_not_there_are_refused(passages, settings, error, message):
    with pytest.raises(error, match=message):
        pellucid.explain(
            tiny_classifier(),
            [PROMPT],
            **{"method": "occlusion"} | settings,
            passages=passages,
            progress=False,
        )


def test_what_stands_between_passages_may_be_words():
    """Names of several words count as one unit, and all else singly (a public report on LIME)."""
    model = pellucid.from_function(
        lambda texts: [
            [0.9 - p, 0.1 + p] for p in (0.5 * ("General Motors" in t) + 0.2 * ("plans" in t) for t in texts)
        ],
        ["other", "cars"],
    )
    text, names = "General Motors plans a car, and General Electric does not.", ["General Motors", "General Electric"]
    options = {"output": "probability", "passages": names, "progress": False}
    scores = list(pellucid.explain(model, text, "occlusion", rest="words", **options)[0])
    assert [word for word, _ in scores] == [names[0], *"plans a car , and".split(), names[1], *"does not .".split()]
    assert dict(scores)[names[0]] == pytest.approx(0.5) and dict(scores)["plans"] == pytest.approx(0.2)
    together = dict(pellucid.explain(model, text, "occlusion", **options)[0])
    assert together["plans a car, and"] == pytest.approx(0.2)
    with pytest.raises(BadSetting, match="together, words"):
        pellucid.explain(model, text, "occlusion", rest="letters", **options)


def test_another_process_gets_texts_labels_and_turns_alone():
    chat = Example(("<user> Hi <bot>",), meta={"chat": [["user", 7, 9]], "mine": object()}, label="a")
    assert sent(chat).meta == {"chat": [["user", 7, 9]]} and sent(chat).label == "a"
    assert sent(replace(chat, meta={"mine": 3})).meta == {}


def test_passages_have_no_words():
    (one,) = pellucid.explain(tiny_classifier(), [PROMPT], "occlusion", passages=PASSAGES, progress=False)
    with pytest.raises(BadSetting, match="Scores a passage cannot be split into scores a word"):
        one.words()
    (words,) = pellucid.explain(tiny_classifier(), [PROMPT], "occlusion", progress=False)
    with pytest.raises(BadSetting, match="unit='passage' is not possible"):
        words.view("passage")


def test_a_passage_that_stands_twice_may_be_named_twice():
    assert passages_in(Example(("No, no.",)), ["o", "o "]) == ((1, 2), (5, 6))
