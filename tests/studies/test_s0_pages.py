"""Table 4's page: rows are compared over the seeds that both have, and one seed gives no verdict."""

import numpy as np
import pytest

from pellucid.evidence.transfers import WAYS
from studies.s0_transfers.numbers import BLIND, OURS, summarise
from studies.s0_transfers.page import as_page

TEXTS = 200
SHARES = {OURS: 0.6, "average_gradient": 0.4, BLIND: 0.5}


def _row(seed, share):
    right = np.random.default_rng(seed).random(TEXTS) < share
    over = {"mean": 0.1, "low": 0.0, "high": 0.2}
    numbers = {
        "coverage": [0.2],
        "words": [3],
        "leak": {"over_majority": over, "majority": over, "leaks": True},
        "seconds": 1,
    }
    return numbers | {way: right.tolist() for way in WAYS[1:]}


@pytest.fixture(scope="module")
def numbers():
    """Three seeds of two rows, the first alone of the row that reads no label."""
    units = {f"model-plain-{seed}": {"right": _row(seed, 0.7)["F-S"], "seconds": 1} for seed in range(3)}
    for name, share in SHARES.items():
        units |= {f"{name}-{seed}": _row(seed, share) for seed in range(1 if name == BLIND else 3)}
    about = {"data": "sst5", "encoder": "minilm", "epochs": 2, "seeds": 3}
    return summarise(units, dict.fromkeys(SHARES, 3), 3) | {"about": about}


def test_one_seed_gives_no_verdict(numbers):
    verdicts = {(one["over"], one["verdict"]) for one in numbers["claims"]}
    assert verdicts == {("average_gradient", "reproduced"), (BLIND, "no verdict: 1 seed")}
    assert {one["verdict"] for one in numbers["label_read"]} == {"no verdict: 1 seed"}


def test_the_order_of_the_ways_is_a_claim_of_every_row_of_the_paper(numbers):
    assert [(one["row"], one["more"], one["less"]) for one in numbers["order"]] == [
        (name, *ways) for name in ("average_gradient", OURS) for ways in (("S-F", "S-S"), ("S-S", "F-S"))
    ]
    assert {one["verdict"] for one in numbers["order"]} == {"undecided"}


def test_what_was_not_run_is_listed(numbers):
    page = as_page(numbers)
    assert f"**Not run yet, so not judged:** {BLIND} (seeds 1, 2)." in page
    assert "precision, threads, processor and versions not recorded (10)" in page
