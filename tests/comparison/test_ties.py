"""Equal scores: no metric may read the order of a text's words out of them. Every registered metric that ranks is
tried.
"""

import json
import re
from dataclasses import replace
from functools import cache
from itertools import permutations, product
from zlib import crc32

import numpy as np
import pytest

import pellucid
from pellucid.base.kinds import metrics
from pellucid.base.processes import silent
from pellucid.comparison.case import Case
from pellucid.comparison.scored_text import scored_text, without_highest
from pellucid.evidence.extraction_request import ExtractionRequest, Selection
from pellucid.results.bootstrap import combined
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import Target
from pellucid.text.example import Example, Rationale
from pellucid.text.units import all_spans

# These read how large scores are, of words or of random sets that are the same for all methods, and never their order.
UNRANKED = {"infidelity", "sensitivity_n", "soft_comprehensiveness", "soft_sufficiency"}
NAMES = [name for name in metrics.names() if name not in UNRANKED]
OF_SPANS = {name for name in NAMES if name.startswith("span_")}
OF_MARKS = [name for name in NAMES if "rationales" in metrics.get(name).facts["needs"]]
# all other spans of a length, so that nothing is drawn; fewer words than the texts have
SETTINGS = {"span_over_random": {"draws": 99}, "deletion": {"most": 4}}
TEXTS = (
    "Four small boats left the old harbour before noon",
    "She sold every painting except one with red sails",
    "Rain fell all night but nobody closed that window",
)
DECOYS = {"old", "except", "but"}  # the fifth words
PATTERNS = ((0,) * 9, (0, 0, 3, 0, 0, 0, 2, 0, 0), (1, 1, 4, 2, 2, 0, 0, 2, -1), (0, 0, 0, 0, 0, 0, 0, 0, 5))


@cache
def bag():
    """A model that does not care where a word stands: each has a weight of its own."""
    weight = lambda word: crc32(word.encode()) / 2**32 - 0.5  # noqa: E731

    def answer(texts):
        sums = np.array([sum(map(weight, re.findall(r"\w+", text))) for text in texts])
        high = 1 / (1 + np.exp(-4 * sums))
        return np.stack([1 - high, high], 1)

    return pellucid.from_function(answer, ["no", "yes"])


def case_of(texts, scores, marks, spans=None):
    """A case of texts as lists of words. scores: [text word]. marks: for each text, numbers of words.

    spans: scores of all spans in their place.
    """
    examples = [_example(words, marked) for words, marked in zip(texts, marks, strict=True)]
    request = Request(bag(), method_calls(["chance"], bag()), Target("predicted"), 0)
    explained = explain_batch(request, bag().encode(examples), Scheduler(512), silent)["chance"]
    views = [one.row("0").words() for one in explained]
    explanations = [replace(view, scores=np.array(row, dtype=float)) for view, row in zip(views, scores, strict=True)]
    if spans is not None:
        explanations = [
            replace(one, units=all_spans(one.units), scores=np.array(spans, dtype=float)) for one in explanations
        ]
    return Case(bag(), bag().encode(examples), explanations, Scheduler(512), 0.25)


def _example(words, marked):
    starts = np.cumsum([0, *(len(word) + 1 for word in words)])
    mark = lambda n: (0, int(starts[n]), int(starts[n]) + len(words[n]))  # noqa: E731
    decoy = {"distractors": [list(mark(n)) for n, word in enumerate(words) if word in DECOYS]}
    text = " ".join(words)
    label = ["no", "yes"][int(bag_answer(text))]
    marks = tuple(Rationale(*mark(n)) for n in sorted(marked))
    return Example((text,), label, marks, id=text, meta=decoy)


@cache
def bag_answer(text):
    return pellucid.predict(bag(), text)[0].label == "yes"


def in_order(order, scores, marks=(0, 1), texts=TEXTS):
    """The case of the texts with their words in another order; scores and marks go with their words."""
    words = [[text.split()[n] for n in order] for text in texts]
    return case_of(words, [[scores[n] for n in order]] * len(texts), [[order.index(n) for n in marks]] * len(texts))


def judge(name, case, **settings):
    (call,) = metrics.calls([(name, {**SETTINGS.get(name, {}), **settings})])
    return call(case).columns


ORDER = list(range(9))


@pytest.mark.parametrize("scores", PATTERNS)
@pytest.mark.parametrize("name", NAMES)
def test_a_text_read_backwards_has_the_same_value(name, scores):
    forwards, backwards = (judge(name, in_order(order, scores)) for order in (ORDER, ORDER[::-1]))
    np.testing.assert_allclose(backwards, forwards, atol=1e-6)


@pytest.mark.parametrize("scores", PATTERNS)
@pytest.mark.parametrize("name", [name for name in NAMES if name not in {*OF_SPANS, "iou_f1"}])
def test_it_does_not_matter_which_of_equal_words_comes_first(name, scores):
    """Nor where any word stands. Spans are made of neighbours, so metrics of spans are left out here."""
    here = judge(name, in_order(ORDER, scores))
    for seed in range(3):
        order = np.random.default_rng(seed).permutation(9).tolist()
        np.testing.assert_allclose(judge(name, in_order(order, scores)), here, atol=1e-6)


@pytest.mark.parametrize("name", OF_MARKS)
def test_blank_scores_are_worth_the_same_wherever_the_evidence_stands(name):
    """In reading order, token F1 was 1 where it began the text and 0 where it ended it."""
    first, last = (judge(name, in_order(ORDER, PATTERNS[0], marks)) for marks in ((0, 1, 2), (6, 7, 8)))
    np.testing.assert_allclose(first, last, atol=1e-9)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_SPANS])
def test_blank_scores_are_worth_what_random_ones_are(name):
    """Of spans, the length would differ."""
    blank = judge(name, in_order(ORDER, PATTERNS[0])).mean(0)
    random = np.array(
        [judge(name, in_order(ORDER, np.random.default_rng(n).permutation(9).tolist())).mean(0) for n in range(60)]
    )
    spread = random.std(0)
    assert (np.abs(blank - random.mean(0)) <= 3 * spread * np.sqrt(1 / 4 + 1 / 60) + 1e-9).all()
    if name in OF_MARKS:  # exact, so only the random ones vary
        assert (np.abs(blank - random.mean(0)) <= 4 * spread / np.sqrt(60) + 1e-9).all()


def strict(scores):
    """All scores without ties that are ordered as these are."""
    groups = [[n for n, one in enumerate(scores) if one == value] for value in sorted(set(scores), reverse=True)]
    for orders in product(*(permutations(group) for group in groups)):
        ranks = np.empty(len(scores))
        ranks[[n for group in orders for n in group]] = -np.arange(len(scores))
        yield ranks.tolist()


@pytest.mark.parametrize("scores", [(1, 0, 0, 2, 0, 1), (0, 0, 0, 0, 0, 3), (2, 2, 2, 1, 1, 0)])
@pytest.mark.parametrize("name", OF_MARKS)
def test_metrics_without_passes_are_the_exact_mean_over_all_orders(name, scores):
    texts = [" ".join(TEXTS[0].split()[:6])]
    settings = {"k": 2} if name.endswith("_at_k") else {"budget": 0.4} if "f1" in name else {}
    tied, *every = (
        judge(name, in_order(ORDER[:6], one, (1, 3), texts), **settings) for one in (scores, *strict(scores))
    )
    np.testing.assert_allclose(tied, np.mean(every, 0), atol=1e-12)


@pytest.mark.parametrize("name", [name for name in NAMES if name not in OF_SPANS])
def test_of_two_equal_words_each_comes_first_in_half_of_the_orders(name):
    scores = (7, 6, 5, 4, 4, 3, 2, 1, 0)
    tied, *both = (judge(name, in_order(ORDER, one)) for one in (scores, *strict(scores)))
    assert len(both) == 2
    np.testing.assert_allclose(tied, np.mean(both, 0), atol=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_equal_scores_are_judged_alike_alone_and_beside_others(name):
    whole = judge(name, in_order(ORDER, PATTERNS[1]))
    for number, text in enumerate(TEXTS):
        np.testing.assert_allclose(
            judge(name, in_order(ORDER, PATTERNS[1], texts=[text])), whole[number : number + 1], atol=1e-6
        )
    np.testing.assert_allclose(judge(name, in_order(ORDER, PATTERNS[1], texts=TEXTS[::-1]))[::-1], whole, atol=1e-6)


@pytest.mark.parametrize("name", ["comprehensiveness", "sufficiency", "hiding", "revealing", "decision_flip"])
def test_passes_are_run_only_where_equal_scores_meet_a_cut(name):
    """The runs of a text without equal scores, of one whose equal scores no cut divides, and of a blank one."""
    settings = {"fractions": (0.2, 0.4)} if name in ("comprehensiveness", "sufficiency") else {}
    runs = {}
    for title, scores in {"none": range(9), "beside": (9, 8, 7, 6, 0, 0, 0, 0, 0), "blank": (0,) * 9}.items():
        case = in_order(ORDER, list(scores))
        judge(name, case, **settings)
        runs[title] = case.scheduler.rows_run
    if settings:
        assert runs["beside"] == runs["none"]
    assert runs["none"] <= runs["blank"] <= 4 * runs["none"]


def test_the_heaviest_of_equal_spans_is_none_of_them():
    """Two spans of the same weight, one at each end: a metric of spans is the mean of what both give, and so is each
    order's.
    """
    words, n = [TEXTS[0].split()], 45
    weights = np.linspace(0, 0.1, n)
    tied = weights.copy()
    tied[[1, n - 2]] = 1.0
    for name in OF_SPANS:
        both = []
        for heavy in (1, n - 2):
            alone = tied.copy()
            alone[heavy] = 2.0
            both.append(judge(name, case_of(words, [[0] * 9], [[0]], alone)))
        np.testing.assert_allclose(judge(name, case_of(words, [[0] * 9], [[0]], tied)), np.mean(both, 0), atol=1e-6)


@pytest.mark.parametrize("name", ["token_f1", "iou_f1"])
def test_equal_spans_of_a_selection_are_drawn_alike_from_both_ends(name):
    values = [
        combined(
            judge(name, in_order(ORDER, PATTERNS[0], marks), n_spans=1, budget=0.3),
            "mean" if name == "token_f1" else "f1",
        )
        for marks in ((0, 1, 2), (6, 7, 8))
    ]
    assert values[0] == pytest.approx(values[1], abs=0.1)


def test_one_choice_among_equal_words_stands_anywhere_in_a_text_and_is_always_the_same(tmp_path):
    """Where a single choice is needed: words that are deleted before a training, predictions for ERASER, spans of a
    weight.
    """
    places = {"deleted": [], "written": [], "span": []}
    for number in range(200):
        words = [f"w{number}x{n}" for n in range(9)]
        case = case_of([words], [[0.0] * 9], [[0]])
        (one,) = case.explanations
        text = without_highest(case.batch.examples[0], scored_text(one), 0.12)
        (missing,) = set(words) - set(text.segments[0].split())
        places["deleted"].append(words.index(missing))

        even = replace(one, scores=np.ones(len(one.units)))
        pellucid.write_eraser([even], tmp_path / "eraser.jsonl", fraction=0.1)
        (row,) = map(json.loads, (tmp_path / "eraser.jsonl").read_text().splitlines())
        places["written"].append(row["rationales"][0]["hard_rationale_predictions"][0]["start_token"])

        (of_spans,) = case_of([words], [[0.0] * 9], [[0]], np.ones(45)).explanations
        selected = ExtractionRequest(bag(), [one.example], [Selection("top_spans")]).select(0, of_spans)
        (span,) = selected.spans[0]
        again = ExtractionRequest(bag(), [one.example], [Selection("top_spans")]).select(0, of_spans)
        assert selected.spans == again.spans
        places["span"].append((span.start + span.end) / 2 / len(" ".join(words)) * 8)
    for name, of_name in places.items():
        assert np.mean(of_name) == pytest.approx(4, abs=0.6), name
