"""Spans one can believe in small: what is read alone and left out, equal lengths, planted reasons, agreement of seeds,
verdicts.
"""

import json
from dataclasses import asdict

import numpy as np
import pytest

import pellucid
from pellucid.evidence.eraser_scores import NUMBERS
from pellucid.results.interval import Interval
from pellucid.run.batch import edit
from pellucid.text.example import Example, Rationale
from pellucid.training.recipes import NAMED
from studies.believable_spans.bounds import MET, MISSED, UNDECIDED, bounds_of
from studies.believable_spans.corpora import CORPORA, SIZES, models_of, parts_of
from studies.believable_spans.evidence import (
    RANDOM,
    answers,
    evidence_numbers,
    falls,
    random_words,
)
from studies.believable_spans.judging import covered_reasons, fits_spans, reason_words, spans_of
from studies.believable_spans.marks import marks_of
from studies.believable_spans.models import MODELS
from studies.believable_spans.numbers import _alike, span_numbers
from studies.believable_spans.other_methods import best_words
from studies.quoted_blocks import believable_spans_blocks
from tests.shared.tiny import tiny_composed

EXAMPLES = [
    Example(("A gripping, lovely film.",), label="positive", rationales=(Rationale(0, 2, 10),)),
    Example(("Dull and long, and in the end not worth the evening.",), label="negative"),
]
SURE = {"mean": 0.0, "low": -1.0, "high": 1.0}


@pytest.fixture(scope="module")
def model():
    classifier = tiny_composed("span")
    classifier.network.double()
    return classifier


def answer(model, batch, number, words):
    """The probabilities of a text of which only these words are read."""
    pieces = batch.pieces_of(number, "word")
    removed = [piece for word, own in enumerate(pieces) if word not in words for piece in own]
    row = edit(batch.rows[number], removed, "absent", batch.special)
    return model.trace([row]).logits[0].detach().softmax(-1).numpy()


def test_falls_are_those_of_the_words_alone_and_of_the_others(model):
    batch, selection = model.encode(EXAMPLES), [[1, 3], [0]]
    values = falls(model, batch, selection, answers(model, batch.rows))
    for number, words in enumerate(selection):
        every = set(range(len(batch.pieces_of(number, "word"))))
        whole = answer(model, batch, number, every)
        label = int(whole.argmax())
        alone, without = (answer(model, batch, number, some) for some in (words, every - set(words)))
        assert values.alone[number] == pytest.approx(whole[label] - alone[label], abs=1e-6)
        assert values.without[number] == pytest.approx(whole[label] - without[label], abs=1e-6)
        assert values.agrees[number] == (alone.argmax() == label)


@pytest.mark.parametrize("own", ([range(2)], [range(2), range(4, 5)], [range(3, 9), range(2)]))
def test_random_choices_are_as_long_as_the_spans_and_share_no_word(model, own):
    batch, explanations = model.encode(EXAMPLES[1:]), spans_of(model, EXAMPLES[1:])
    drawn = random_words(batch, [own], explanations)
    assert len(drawn) == RANDOM
    assert {len(words) for (words,) in drawn} == {sum(map(len, own))}
    assert len({tuple(words) for (words,) in drawn}) > 1


def test_random_choices_are_the_spans_where_nothing_else_fits(model):
    batch, explanations = model.encode(EXAMPLES[:1]), spans_of(model, EXAMPLES[:1])
    n_words = len(batch.pieces_of(0, "word"))
    assert random_words(batch, [[range(n_words)]], explanations)[0] == [list(range(n_words))]


def test_a_method_gets_as_many_words_as_the_spans_have(model):
    explanation = pellucid.explain(model, EXAMPLES, "gradient", progress=False)[0]
    words = explanation.view("word")
    scores = np.asarray(words.scores)[~words.special]
    best = best_words(explanation, 2)
    assert len(best) == 2
    assert min(scores[best]) >= max(np.delete(scores, best))
    assert best == sorted(best)


def test_a_reason_is_covered_where_its_words_lie_in_the_spans(model):
    explanations = spans_of(model, EXAMPLES)
    reasons = [reason_words(one) for one in explanations]
    assert covered_reasons(reasons, [[1], [0]]) == [1.0, None]  # gripping; nothing is marked
    assert covered_reasons(reasons, [[0, 2], [0]]) == [0.0, None]


@pytest.mark.parametrize(
    "reason, fits", [([], True), ([5], True), ([2, 3, 4, 5], True), ([0, 3, 9, 12], True), ([0, 4, 8], False)]
)
def test_a_reason_fits_where_two_spans_of_four_words_can_have_it(reason, fits):
    assert fits_spans(reason) == fits


def test_the_numbers_of_spans_are_means_over_seeds_and_their_deviation(model):
    explanations = spans_of(model, EXAMPLES)
    one = evidence_numbers(model, EXAMPLES, explanations)
    other = one | {"spans": [value + 2 for value in one["spans"]], "agrees": [True, True]}
    numbers = span_numbers([one | {"agrees": [True, False]}, other])
    assert numbers["spread"] == pytest.approx(np.sqrt(2))
    assert numbers["spans"]["mean"] == pytest.approx(np.mean(one["spans"]) + 1)
    assert numbers["agrees"]["mean"] == 75
    assert numbers["n_words"] == np.mean(one["n_words"])


def test_seeds_with_the_same_words_are_alike_and_others_are_not():
    one, other = [[0, 1], [4]], [[0, 1], [5]]
    assert _alike([one, other]).tolist() == [1, 0]
    assert _alike([one, [[1, 2], []]]).tolist() == [1 / 3, 0]


def columns(f1, seeds=3, texts=20):
    """ERASER's columns of texts that all have this token F1 and a hit each."""
    return [[[1.0, 1.0, 1.0, 1.0, f1, 1.0]] * texts for _ in range(seeds)]


def marked_unit(name, seed, own, rival, texts=10):
    """A unit with the same F1 in every text."""
    both = ("budget", "words")
    methods = {"gradient": rival, "chance": 0.9}
    marks = {"marks": {MODELS[name].title: dict.fromkeys(both, columns(own)[0])}} if name != "plain" else {}
    return {
        "model": name,
        "seed": seed,
        "method_marks": {one: dict.fromkeys(both, columns(f1)[0][:texts]) for one, f1 in methods.items()},
        **marks,
    }


def test_a_lead_in_marks_is_over_the_best_method_on_any_model():
    judged = {
        "plain": [marked_unit("plain", seed, 0, 0.6) for seed in range(3)],
        "believable": [marked_unit("believable", seed, 0.5, 0.3) for seed in range(3)],
    }
    numbers = marks_of(judged)["token_f1"]
    lead = numbers["leads"]["believable"]
    assert (lead["best"], lead["seeds"], numbers["texts"]) == ("gradient on plain", 3, 10)
    assert lead["lead"]["mean"] == pytest.approx(-0.1)
    assert set(NUMBERS) == {"iou_f1", "token_f1"}


def test_a_lead_in_marks_pairs_seeds_and_not_places():
    judged = {
        "plain": [marked_unit("plain", 0, 0, 0.1), marked_unit("plain", 1, 0, 0.5)],
        "believable": [marked_unit("believable", seed, own, 0.0) for seed, own in ((1, 0.5), (2, 0.9))],
    }
    for one in judged["believable"]:
        del one["method_marks"]
    lead = marks_of(judged)["token_f1"]["leads"]["believable"]
    assert (lead["seeds"], lead["lead"]["mean"]) == (1, pytest.approx(0.0))
    judged["believable"] = judged["believable"][1:]
    assert marks_of(judged)["token_f1"]["leads"] == {}


def judged_numbers(**changes):
    of_spans = {
        "spans": SURE | {"mean": 2.4},
        "spread": 0.2,
        "agrees": SURE | {"mean": 84.0},
        "without_content": SURE,
        **changes,
    }
    lead = asdict(Interval(0.1, 0.05, 0.2))
    of_methods = {"best": "lime", "over_best": lead}
    judged = {
        "spans": of_spans,
        "leak": SURE,
        "overlap": {
            "spans": SURE,
            "integrated_gradients": SURE | {"mean": 0.1},
            "lead": asdict(Interval(-0.1, -0.2, -0.05)),
        },
        "seeds": [0, 1, 2],
        "methods": {"alone": of_methods, "without": of_methods | {"over_best": SURE}},
    }
    trained = {"title": "believable", "seeds": [0, 1, 2], "test_over_plain": SURE | {"mean": -0.4}}
    return {"models": {"believable": trained}, "judged": {"believable": judged}, "marks": {}}


def test_verdicts_follow_the_bounds():
    verdicts = {line.words.split(":")[0]: line.verdict for line in bounds_of(judged_numbers(), "believable")}
    assert verdicts["accuracy less the plain model's, points"] == MET
    assert verdicts["texts whose heaviest spans alone get their answer, %"] == MISSED
    assert verdicts["comprehensiveness against the best method"] == UNDECIDED
    assert verdicts["sufficiency against the best method"] == MET
    assert verdicts["words in both of two seeds' spans, as a share, less integrated gradients'"] == MISSED
    assert {line.verdict for line in bounds_of(judged_numbers(spread=None), "believable")} >= {""}


def test_two_seeds_have_no_verdict():
    numbers = judged_numbers()
    numbers["judged"]["believable"]["seeds"] = [0, 1]
    accuracy, *of_spans = bounds_of(numbers, "believable")
    assert accuracy.verdict == MET  # three seeds are trained, and two of them judged
    assert {line.verdict for line in of_spans} == {""}
    numbers["models"]["believable"]["seeds"] = [0, 1]
    assert {line.verdict for line in bounds_of(numbers, "believable")} == {""}


def test_the_study_trains_the_recipe_of_that_name():
    believable = MODELS["believable"]
    named = NAMED["believable"]
    assert (believable.recipe, believable.pooler_settings) == (named.recipe, named.pooler_settings)


@pytest.mark.parametrize("on", CORPORA)
def test_every_corpus_has_known_models_and_the_plain_one(on):
    assert {"plain", "believable"} <= set(models_of(on, SIZES["small"])) <= set(MODELS)


def test_judged_texts_of_a_corpus_with_marks_have_marks():
    parts = parts_of("pocket", "pocket", "tiny")
    assert len(parts["judged"]) == SIZES["tiny"].judged and all(one.rationales for one in parts["judged"])
    assert not {one.id for one in parts["train"]} & {one.id for one in parts["judged"]}


def test_no_model_learns_from_unread_texts():
    parts = parts_of("pocket", "pocket", "tiny")
    read = {one.segments for one in parts["train"]}
    assert not read & {one.segments for one in parts["unread"]}
    assert len(parts["unread"]) == len(parts["dev"]) + SIZES["tiny"].unread


def quoted(tmp_path, on, numbers):
    """A repository whose study of one corpus has these numbers."""
    path = tmp_path / "studies" / "believable_spans" / on / "result.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(numbers))
    return tmp_path


def test_quoted_tables_say_what_was_not_run(tmp_path):
    tables = [table for name, table in vars(believable_spans_blocks).items() if name.endswith("_claims")]
    assert len(tables) == 5
    assert {table(tmp_path) for table in tables} == {"Not run yet."}


def test_quoted_levers_stand_beside_the_plain_model_and_random_spans(tmp_path):
    spans = {
        name: SURE | {"mean": mean}
        for name, mean in (
            ("spans", 2.4),
            ("agrees", 90.5),
            ("random_agrees", 55.0),
            ("without", 0.2),
            ("random_without", 0.02),
            ("without_content", 1.5),
        )
    }
    plain = {
        "title": "plain",
        "seeds": [0, 1, 2],
        "seconds": 20.0,
        "spans_on_dev": None,
        "unread_over_plain": SURE,
    }
    trained = plain | {
        "title": "believable",
        "seconds": 50.0,
        "spans_on_dev": spans | {"spread": 0.25},
        "unread_over_plain": asdict(Interval(-0.3, -1.0, 0.4)),
    }
    root = quoted(tmp_path, "sst2", {"models": {"plain": plain, "believable": trained}})
    lines = believable_spans_blocks.believable_spans_levers_claims(root).splitlines()
    assert lines[2:] == [
        "| believable | 3 | -0.3 [-1.0, 0.4] | 2.4 ± 0.2 | 90.5 (55.0) | 0.200 (0.020) | 1.5 | 2.5 × |"
    ]


def test_quoted_bounds_and_leads_stand_corpus_by_corpus(tmp_path):
    numbers = judged_numbers()
    root = quoted(tmp_path, "sst5", numbers)
    bounds = believable_spans_blocks.believable_spans_bounds_claims(root)
    assert "| asked | SST-5 |" in bounds and "against lime, met |" in bounds
    leads = believable_spans_blocks.believable_spans_methods_claims(root)
    assert "| believable, alone | 0.100 [0.050, 0.200] over lime |" in leads
    assert "| believable | -0.4 [" in believable_spans_blocks.believable_spans_accuracy_claims(root)
    assert believable_spans_blocks.believable_spans_marks_claims(root) == "Not run yet."


def test_quoted_marks_have_the_best_method_beside_the_models(tmp_path):
    judged = {
        "plain": [marked_unit("plain", seed, 0, 0.6) for seed in range(3)],
        "believable": [marked_unit("believable", seed, 0.5, 0.3) for seed in range(3)],
    }
    root = quoted(tmp_path, "snli", judged_numbers() | {"marks": marks_of(judged)})
    table = believable_spans_blocks.believable_spans_marks_claims(root)
    assert "| token F1, believable | 0.500" in table
    assert "| token F1, the best method | 0.600" in table and "(gradient on plain) |" in table
