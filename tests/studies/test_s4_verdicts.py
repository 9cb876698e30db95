"""Known reasons: only learnt ones are judged, weight on marks is counted, and what deceives is measured."""

import numpy as np
import pytest

import pellucid
from pellucid.core.text.example import Example, Rationale
from pellucid.studies.s4_verdicts.page import as_page
from pellucid.studies.s4_verdicts.summary import deception_row, summarise
from pellucid.studies.s4_verdicts.units import weight_on_marks
from pellucid.studies.shared.attention_models import DECEPTIVE
from tests.tiny import tiny_composed

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


def planted(variant, seed, precision, right=1.0):
    learnt = {
        "accuracy": SHARE,
        "counterfactual": SHARE | {"mean": right},
        "distractor": SHARE,
        "holds": right > 0.9,
    }
    values = [precision - 0.02, precision, precision + 0.02, precision + 0.001 * seed]
    numbers = {"learnt": learnt, "reason_found": values, "chance": [0.2] * 4, "decoy_first": [0.0] * 4}
    return {"reason": "token", "variant": variant, "seed": seed, "effective": 2.0, "seconds": 1.0, **numbers}


def deceiving(variant, seed, weight, right):
    numbers = {"marked_weight": [weight] * 10, "right": right, "effective": 2.0, "seconds": 1.0}
    return {"variant": variant, "seed": seed, **numbers}


def records(seeds=3):
    every = [planted("base", seed, 0.2) for seed in range(seeds)]
    every += [planted("tying", seed, 0.9, right=0.5 if seed == 2 else 1.0) for seed in range(seeds)]
    right = [1] * 10
    both = [deceiving("base", seed, 0.9, right) for seed in range(seeds)]
    both += [deceiving(DECEPTIVE, seed, 0.01, right) for seed in range(seeds)]
    return {"planted": dict(enumerate(every)), "deception": dict(enumerate(both))}


def test_what_was_not_learnt_is_left_out_and_few_seeds_are_no_verdict():
    numbers = summarise(ABOUT, records())
    base, tying = numbers["planted"]["token base"], numbers["planted"]["token tying"]
    assert base["seeds"] == 3 and tying["seeds"] == 2 and tying["not_learnt"] == [2]
    [claim] = numbers["claims"]
    assert claim["seeds"] == 2 and claim["measured"]["mean"] == pytest.approx(70)
    page = as_page(numbers, "small")
    assert "2; not learnt: seed 2" in page and "no verdict: 2 seeds" in page and "It deceives:" in page
    assert " · |" in page  # what the plain model's weights find is not told from random scores


def test_what_is_missing_is_listed():
    numbers = summarise(ABOUT, records(seeds=2) | {"deception": {}})
    page = as_page(numbers, "small")
    assert "token base (seed 2)" in page and f"{DECEPTIVE} (seeds 0, 1, 2)" in page and "Not run yet." in page
    nothing = summarise(ABOUT, {"planted": {}, "deception": {}})
    assert "No reason was learnt by two models." in as_page(nothing, "small")


@pytest.mark.parametrize("weight, wrong, deceives", [(0.01, 0, True), (0.2, 0, False), (0.01, 5, False)])
def test_a_model_deceives_that_hides_its_reason_and_keeps_its_answers(weight, wrong, deceives):
    plain = [deceiving("base", seed, 0.9, [1] * 10) for seed in range(3)]
    other = [deceiving(DECEPTIVE, seed, weight, [0] * wrong + [1] * (10 - wrong)) for seed in range(3)]
    assert deception_row(plain, other)["deceives"] == deceives


def test_the_weight_on_marks_is_a_share_of_all_weight():
    model = tiny_composed("additive")
    text = "a fine film"
    [one] = pellucid.explain(
        model, [Example((text,), None, (Rationale(0, 2, 6),))], "unit_attention", progress=False
    )
    scores = np.asarray(one.scores)[list(one.units.content)]
    assert weight_on_marks(one) == pytest.approx(float(scores[1]))
    [bare] = pellucid.explain(model, [text], "unit_attention", progress=False)
    assert weight_on_marks(bare) == 0
