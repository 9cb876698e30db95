"""Known reasons: only learnt ones are judged, weight on marks is counted, and what deceives is measured."""

import numpy as np
import pytest

import pellucid
from pellucid.base.kinds import reasons
from pellucid.data.plant import carrier_parts, plant
from pellucid.evidence.transfers import reason_precision
from pellucid.text.example import Example, Rationale
from studies.s4_verdicts.judged_weights import judged_weights
from studies.s4_verdicts.page import as_page
from studies.s4_verdicts.summary import deception_row, summarise
from studies.s4_verdicts.units import weight_on_marks
from studies.s4_verdicts.verdict_tables import verdicts_text
from studies.s4_verdicts.verdicts import verdict_rows
from studies.shared.attention_models import DECEPTIVE
from tests.shared.tiny import tiny_composed

SHARE = {"mean": 1.0, "low": 1.0, "high": 1.0}
ABOUT = {
    "reasons": {"token": 1},
    "variants": ["base", "tying"],
    "seeds": 3,
    "planted": 20,
    "epochs": 2,
    "weights": {"tying": 10.0},
    "own_weights": True,
    "n_train": 30,
}
CLASSES = {reason: ["no", "yes", "no", "yes"] for reason in ("token", "marked words")}


def judged(answer, heaviest):
    """A verdict, and what is said of four texts."""
    evidence = [{"test": test, "value": SHARE} for test in ("median_change", "heaviest_decides")]
    verdict = {"answer": answer, "reason": "of the evidence", "evidence": evidence}
    return {"verdict": verdict, "decides": "11-0", "in_reason": heaviest * 4}


def planted(variant, seed, precision, right=1.0, answer="may"):
    learnt = {
        "accuracy": SHARE,
        "counterfactual": SHARE | {"mean": right},
        "distractor": SHARE,
        "holds": right > 0.9,
    }
    values = [precision - 0.02, precision, precision + 0.02, precision + 0.001 * seed]
    numbers = {"learnt": learnt, "reason_found": values, "chance": [0.2] * 4, "decoy_first": [0.0] * 4}
    numbers |= judged(answer, "1" if precision > 0.5 else "0")
    return {"reason": "token", "variant": variant, "seed": seed, "effective": 2.0, "seconds": 1.0, **numbers}


def deceiving(variant, seed, weight, right, answer="may not"):
    numbers = {"marked_weight": [weight] * 10, "right": right, "effective": 2.0, "seconds": 1.0}
    numbers |= {"reason_found": [weight] * 4, "chance": [0.0] * 4, **judged(answer, "0")}
    return {"variant": variant, "seed": seed, **numbers}


def records(seeds=3):
    every = [planted("base", seed, 0.2, answer="may not" if seed else "may") for seed in range(seeds)]
    every += [planted("tying", seed, 0.9, right=0.5 if seed == 2 else 1.0) for seed in range(seeds)]
    right = [1] * 10
    both = [deceiving("base", seed, 0.9, right) for seed in range(seeds)]
    both += [deceiving(DECEPTIVE, seed, 0.01, right) for seed in range(seeds)]
    return {"planted": dict(enumerate(every)), "deception": dict(enumerate(both))}


def test_what_was_not_learnt_is_left_out_and_few_seeds_are_no_verdict():
    numbers = summarise(ABOUT, records(), CLASSES)
    base, tying = numbers["planted"]["token base"], numbers["planted"]["token tying"]
    assert base["seeds"] == 3 and tying["seeds"] == 2 and tying["not_learnt"] == [2]
    [claim] = numbers["claims"]
    assert claim["seeds"] == 2 and claim["measured"]["mean"] == pytest.approx(70)
    page = as_page(numbers)
    assert "2; not learnt: seed 2" in page and "no verdict: 2 seeds" in page and "It deceives:" in page
    assert " · |" in page  # what the plain model's weights find is not told from random scores


def test_what_is_missing_is_listed():
    numbers = summarise(ABOUT, records(seeds=2) | {"deception": {}}, CLASSES)
    page = as_page(numbers)
    assert "token base (seed 2)" in page and f"{DECEPTIVE} (seeds 0, 1, 2)" in page and "Not run yet." in page
    nothing = summarise(ABOUT, {"planted": {}, "deception": {}}, CLASSES)
    assert "No reason was learnt by two models." in as_page(nothing)


def test_every_miss_of_the_verdict_is_named():
    verdicts = summarise(ABOUT, records(), CLASSES)["verdicts"]
    assert verdicts["outcomes"] == {"right": 7, "missed": 4, "undecided": 0, "truth unclear": 0}
    page = verdicts_text(verdicts)
    assert "token, Base, seed 0: may, and the weights do not show it (because of the evidence)" in page
    assert page.count("| **missed** |") == 4 and "Of 3 models that are trained to deceive, 0 may be read." in page
    assert "| token | Tying | 0 | may | shows, 0.87 [" in page


def test_texts_without_a_word_that_decides_are_left_out():
    texts = summarise(ABOUT, records(), CLASSES)["verdicts"]["texts"]
    assert texts["token tying"] == {
        "no": {"texts": 4, "judged": 2, "decides": 1, "in_reason": 1, "agree": 1},
        "yes": {"texts": 4, "judged": 4, "decides": 0.5, "in_reason": 1, "agree": 0.5},
    }
    assert texts["token base"]["yes"]["agree"] == 0.5 and texts["token base"]["no"]["agree"] == 0
    page = verdicts_text(summarise(ABOUT, records(), CLASSES)["verdicts"])
    assert "| token | Tying | yes | 4 of 4 | 50% | 100% | 50% |" in page


@pytest.mark.parametrize(
    "answer, precision, outcome",
    [("undecided", 1.0, "undecided"), ("may", 0.6, "truth unclear"), ("may not", 1.0, "missed")],
)
def test_only_what_is_decided_on_both_sides_is_right_or_missed(answer, precision, outcome):
    run = planted("base", 0, precision, answer=answer)
    assert verdict_rows({"token base": [run]})[0]["outcome"] == outcome


def test_the_verdict_is_that_of_the_attention_analysis():
    model = tiny_composed("additive", ("no", "yes"))
    texts = plant(carrier_parts("pocket"), reasons.calls(["token"])[0], n=50, distractor=0.9, seed=0)["test"]
    weights = pellucid.explain(model, texts, "unit_attention", progress=False)
    saved = judged_weights(model, texts, weights)
    analysis = pellucid.attention_analysis(model, texts, progress=False)
    assert saved["verdict"]["reason"] == analysis.verdict.reason
    points = analysis.model().line("heaviest_decides")
    assert len(saved["decides"]) == len(saved["in_reason"]) == len(texts)
    assert saved["decides"].count("-") >= points.left_out
    precision = reason_precision(weights)
    assert [share == 1 for share in precision] == [one == "1" for one in saved["in_reason"]]


@pytest.mark.parametrize("weight, wrong, deceives", [(0.01, 0, True), (0.2, 0, False), (0.01, 5, False)])
def test_a_model_deceives_that_hides_its_reason_and_keeps_its_answers(weight, wrong, deceives):
    plain = [deceiving("base", seed, 0.9, [1] * 10) for seed in range(3)]
    other = [deceiving(DECEPTIVE, seed, weight, [0] * wrong + [1] * (10 - wrong)) for seed in range(3)]
    assert deception_row(plain, other)["deceives"] == deceives


def test_the_weight_on_marks_is_a_share_of_all_weight():
    model = tiny_composed("additive")
    text = "a fine film"
    [one] = pellucid.explain(model, [Example((text,), None, (Rationale(0, 2, 6),))], "unit_attention", progress=False)
    scores = np.asarray(one.scores)[list(one.units.content)]
    assert weight_on_marks(one) == pytest.approx(float(scores[1]))
    [bare] = pellucid.explain(model, [text], "unit_attention", progress=False)
    assert weight_on_marks(bare) == 0
