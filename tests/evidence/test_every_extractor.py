"""Every registered extractor keeps the promises that all extractors share."""

import inspect
from dataclasses import replace
from itertools import pairwise

import pytest
import torch

import pellucid
from pellucid.base.errors import BadSetting, ModelCannot, UnknownName
from pellucid.base.kinds import extractors
from pellucid.base.processes import silent
from pellucid.evidence.extract import extract_from, selection_for
from pellucid.evidence.extraction_request import BY_SPANS, BY_WORDS, ENOUGH, TAKES_BUDGET

NAMES = extractors.names()
SELECTIONS = [(name, mode) for name in NAMES for mode in extractors.get(name).facts["selections"]]
TEXTS = [
    pellucid.Example(("A gripping, lovely film.",), "positive", id="a"),
    pellucid.Example(("fine",), "neutral", id="b"),
    pellucid.Example(("The café was closed on Monday.", "Nobody could eat there, it seems."), "negative", id="c"),
    pellucid.Example(("Long, winding and in the end rather dull. Avoid!",), "negative", id="d"),
]


@pytest.fixture(scope="module")
def model_for(bert, self_explaining, choosing):
    """A function of an extractor's name: the first of three tiny models that has what it needs."""
    chance = pellucid.extract(bert, TEXTS[:1], "random_span")

    def has(model, name):
        own = {"like": chance} if extractors.get(name).facts["selection"] == "same_length" else {}
        try:
            return bool(pellucid.extract(model, TEXTS[:1], name, **own))
        except ModelCannot:
            return False

    return lambda name: next(model for model in (bert, self_explaining, choosing) if has(model, name))


def settings_of(model, mode, texts=TEXTS):
    """What a selection needs besides its name."""
    if mode in TAKES_BUDGET:
        return {"selection": mode, "budget": 2}
    if mode == "same_length":
        return {"selection": mode, "like": pellucid.extract(model, texts, "random_span", seed=5)}
    return {"selection": mode}


def extract(model, texts, name, **settings):
    """The extractions, by the extractor's own selection where none is named."""
    if "selection" not in settings:
        settings |= settings_of(model, extractors.get(name).facts["selection"], texts)
    return pellucid.extract(model, texts, name, **settings)


def locations(extractions):
    return [[(span.segment, span.start, span.end) for span in one.spans] for one in extractions]


@pytest.mark.parametrize("name", NAMES)
def test_it_declares_its_selections(name):
    entry = extractors.get(name)
    assert entry.facts["selection"] in entry.facts["selections"]
    assert set(entry.facts["selections"]) <= {*BY_WORDS, ENOUGH, BY_SPANS}
    assert entry.summary.endswith(".")
    parameters = list(inspect.signature(entry.make).parameters.values())
    assert [one.name for one in parameters if one.kind is not one.KEYWORD_ONLY] == ["request"]


@pytest.mark.parametrize(("name", "mode"), SELECTIONS)
def test_spans_lie_in_the_text_in_order_without_overlap_and_every_text_has_one(name, mode, model_for):
    model = model_for(name)
    extractions = extract(model, TEXTS, name, **settings_of(model, mode))
    assert [one.example for one in extractions] == TEXTS
    for one, places in zip(extractions, locations(extractions), strict=True):
        assert places == sorted(places)
        assert all(first[0] < second[0] or first[2] <= second[1] for first, second in pairwise(places))
        assert {segment for segment, _, _ in places} == set(range(len(one.example.segments)))
        for span in one.spans:
            assert one.example.segments[span.segment][span.start : span.end] == span.text
            assert len(span.words) >= 1
        assert 0 < one.coverage <= 1
        assert (one.extractor, one.settings["selection"]) == (name, mode)


@pytest.mark.parametrize(("name", "mode"), SELECTIONS)
def test_the_selection_decides_on_number_and_lengths(name, mode, model_for):
    model = model_for(name)
    settings = settings_of(model, mode)
    for one, other in zip(extract(model, TEXTS, name, **settings), settings.get("like", TEXTS), strict=True):
        for segment in range(len(one.example.segments)):
            lengths = [len(span.words) for span in one.spans if span.segment == segment]
            if mode in TAKES_BUDGET:
                assert sum(lengths) == (1 if one.example.id == "b" else 2)
            if mode == "same_length":
                assert sum(lengths) == sum(other.lengths(segment))
            if mode == "literal":
                assert lengths == [1]
            if mode not in ("best_words", "above_half", "same_length", ENOUGH):
                assert len(lengths) == 1


@pytest.mark.parametrize("name", NAMES)
def test_other_selections_are_refused(name, model_for):
    model = model_for(name)
    for mode in {*BY_WORDS, BY_SPANS} - set(extractors.get(name).facts["selections"]):
        with pytest.raises(BadSetting, match=f"{name} takes the selections"):
            pellucid.extract(model, TEXTS, name, **settings_of(model, mode))


@pytest.mark.parametrize("name", NAMES)
def test_a_text_alone_has_the_spans_that_it_has_among_others_in_any_order(name, model_for, fresh):
    """The model that reads it alone has read nothing else."""
    model = model_for(name)
    together = locations(extract(model, TEXTS, name))
    assert locations(extract(model, TEXTS[::-1], name))[::-1] == together
    for example, spans in zip(TEXTS, together, strict=True):
        assert locations(extract(fresh(model), [example], name)) == [spans]


@pytest.mark.parametrize("name", NAMES)
def test_draws_depend_on_content_and_seed_and_on_nothing_else(name, model_for):
    """Not on the global random state, the place in the list, or the example's name."""
    model = model_for(name)
    twins = [TEXTS[3], *TEXTS, replace(TEXTS[3], id="another name")]
    with torch.random.fork_rng():
        torch.manual_seed(1)
        spans = locations(extract(model, twins, name, seed=7))
        torch.manual_seed(2)
        assert locations(extract(model, TEXTS, name, seed=7)) == spans[1:5]
    assert spans[0] == spans[4] == spans[5]


@pytest.mark.parametrize("name", NAMES)
def test_selections_of_one_call_are_those_of_calls_of_their_own(name, model_for):
    model = model_for(name)
    selections = []
    for mode in extractors.get(name).facts["selections"]:
        settings = settings_of(model, mode)
        selections.append(selection_for(name, mode, settings.get("budget"), 1, settings.get("like")))
    together = extract_from(model, TEXTS, name, selections, {}, seed=0, progress=silent)
    for selection, extractions in zip(selections, together, strict=True):
        (alone,) = extract_from(model, TEXTS, name, [selection], {}, seed=0, progress=silent)
        assert extractions == alone


@pytest.mark.parametrize("name", NAMES)
def test_a_segment_without_words_has_no_spans(name, model_for):
    model = model_for(name)
    (extraction,) = extract(model, [pellucid.Example(("fine", "\u200b"), "neutral")], name)
    assert locations([extraction]) == [[(0, 0, 4)]]


@pytest.mark.parametrize("name", NAMES)
def test_unknown_settings_and_settings_of_another_kind_are_refused(name, model_for):
    model = model_for(name)
    with pytest.raises(UnknownName, match=f"setting of {name}"):
        extract(model, TEXTS, name, no_such=1)
    for setting in extractors.get(name).defaults:
        with pytest.raises(BadSetting):
            extract(model, TEXTS, name, **{setting: ["x"]})
