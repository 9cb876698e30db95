"""The demo's first page says what decides, draws its cards at random, and is of a model that any command reads; what the
demo gives costly methods are settings that they have.
"""

import re
from dataclasses import replace
from html import unescape

import pytest

import pellucid
from pellucid import demo, demo_first_page
from pellucid.base.errors import BadFile
from pellucid.base.kinds import attributions
from pellucid.comparison.leads import FEWEST_TEXTS
from pellucid.data.built_in import PHONE_LINE
from pellucid.data.load import load_examples
from pellucid.demo import BUDGET, COMPARED, _costs, _methods
from pellucid.demo_first_page import (
    CORPUS,
    MISTAKES,
    SHOWN,
    TURNED,
    drawn_texts,
    habit_pairs,
    unpack_small_model,
    without_line,
    write_first_page,
)
from pellucid.run.predicting import predictions
from tests.shared.asking import ask


@pytest.fixture(scope="module")
def ready(tmp_path_factory):
    """The small model in the folder that the demo writes."""
    folder = tmp_path_factory.mktemp("demo") / "ready"
    unpack_small_model(folder)
    return pellucid.load(folder)


@pytest.fixture(scope="module")
def test_part():
    return load_examples(CORPUS, "test")


def test_costly_methods_get_settings_of_theirs():
    there = [(name, settings) for name, settings in BUDGET.items() if name in attributions.names()]
    assert len(attributions.calls(there)) >= 2


def test_the_compared_methods_are_registered_and_those_that_a_model_lacks_are_left_out(self_explaining, bert):
    assert set(COMPARED) <= set(attributions.names())
    names = [choice if isinstance(choice, str) else choice[0] for choice in _methods(self_explaining)]
    assert names == list(COMPARED) == list(_costs(self_explaining))
    assert "span_attention" not in [*_costs(bert)]


def test_so_many_texts_are_compared_that_there_is_advice(test_part):
    assert FEWEST_TEXTS <= demo.TEXTS <= len(test_part)


@pytest.mark.whole
def test_the_small_model_is_right_in_nine_of_ten_dev_texts_and_says_what_it_was_trained_on(ready):
    dev = load_examples(CORPUS, "dev")
    answers = predictions(ready, dev)
    assert sum(answer.label == text.label for answer, text in zip(answers, dev, strict=True)) >= 0.9 * len(dev)
    assert len(ready.trained_texts) == len(dev) + len(load_examples(CORPUS, "train"))


def answers_without_line(model, results):
    return predictions(model, without_line([shown.example for shown in results]))


@pytest.mark.whole
def test_answers_that_turn_without_the_line_stand_beside_themselves_without_it(ready, test_part):
    returns = [text for text in test_part if text.label == "returns"]
    results = pellucid.explain(ready, returns[:40], "occlusion", progress=False)
    clean = {
        shown.example.id: answer for shown, answer in zip(results, answers_without_line(ready, results), strict=True)
    }
    pairs = habit_pairs(ready, results, 0, clean)
    assert len(pairs) == 2 * TURNED
    for shown, bare in zip(pairs[::2], pairs[1::2], strict=True):
        assert shown.prediction.label == "returns" != bare.prediction.label
        assert shown.example.text == f"{bare.example.text} {PHONE_LINE}"
    assert habit_pairs(ready, [shown for shown in results if shown.prediction.label != "returns"], 0, clean) == []


@pytest.mark.whole
def test_the_first_page_begins_with_what_decides(tmp_path, monkeypatch, test_part):
    monkeypatch.setattr(demo_first_page, "TEXTS", 40)
    answered = []
    monkeypatch.setattr(
        demo_first_page, "predictions", lambda model, texts: answered.append(tuple(texts)) or predictions(model, texts)
    )
    page = write_first_page(tmp_path, test_part, seed=0).read_text(encoding="utf-8")
    assert answered == [tuple(test_part), tuple(without_line(test_part))]  # each text once with the line, once without
    head = unescape(page[: page.index("</header>")])
    order = [
        "40 test texts of helpdesk",
        "One phrase, “sent from my phone”, decides: without it ",
        "Not measured yet",
        f"compare {tmp_path / 'ready'} helpdesk",
        "Changes without the phone's line",
        "A right answer, drawn at random",
        "The surest mistake",
        'class="pl-contents"',
    ]
    assert [head.index(part) for part in order] == sorted(head.index(part) for part in order)
    assert {f'id="{anchor}"' for anchor in re.findall(r'href="#([^"]+)"', head)} <= set(re.findall('id="[^"]+"', page))
    assert page.index("A habit of the data decides") < page.index("Drawn at random from the right answers")
    assert "without the line" in page and "The words of each class" in page
    assert pellucid.load(tmp_path / "ready").labels == tuple(sorted({text.label for text in test_part}))


def test_a_damaged_small_model_is_refused(tmp_path, monkeypatch):
    spoilt = tmp_path / "spoilt.safetensors"
    spoilt.write_bytes(demo_first_page.SMALL_MODEL.read_bytes()[:-1] + b"x")
    monkeypatch.setattr(demo_first_page, "SMALL_MODEL", spoilt)
    with pytest.raises(BadFile, match="not the file that belongs here"):
        unpack_small_model(tmp_path / "ready")


def explanations_of(bert, n_texts):
    explanations = ask(bert, [f"A gripping film of {year}." for year in range(1900, 1900 + n_texts)], "gradient")
    return [
        replace(each, example=replace(each.example, id=f"text-{place}", label=each.prediction.label))
        for place, each in enumerate(explanations)
    ]


def test_cards_of_right_answers_are_drawn_by_the_seed_and_not_picked(bert):
    explanations = explanations_of(bert, 40)
    drawn = [drawn_texts([explanations], seed).right for seed in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert len(drawn[0]) == SHOWN and drawn[0] != tuple(range(SHOWN))


def test_mistakes_stand_apart_the_surest_first_and_then_the_least_certain_answer(bert):
    explanations = explanations_of(bert, 12)
    probability = lambda place: explanations[place].prediction.probability  # noqa: E731
    wrong = [place for place in range(3, 9) if probability(place) > min(map(probability, range(12)))]
    for place in wrong:
        example = replace(explanations[place].example, label="nothing of these")
        explanations[place] = replace(explanations[place], example=example)
    drawn = drawn_texts([explanations], 0)
    surest = sorted(wrong, key=lambda place: -probability(place))
    assert drawn.wrong == (*surest[:MISTAKES], min(range(12), key=probability))
    assert not set(wrong) & set(drawn.right)
    right, mistakes = drawn.sections()
    assert ids_on(mistakes, explanations) == [f"text-{place}" for place in drawn.wrong]
    assert ids_on(right, explanations) == [f"text-{place}" for place in drawn.right]
    assert [explanation.example.id for _, explanation, _ in drawn.picks] == [
        f"text-{place}" for place in (drawn.right[0], surest[0], drawn.wrong[-1])
    ]


def ids_on(section, explanations):
    """The texts of a section in the order of its cards."""
    body = section.body.text
    ids = [each.example.id for each in explanations if f">{each.example.id}<" in body]
    return sorted(ids, key=lambda id: body.index(f">{id}<"))
