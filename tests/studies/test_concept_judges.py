"""The tables of ways of finding concepts: means over seeds, t-intervals, marks that mean something, and what is missing."""

import pytest

from studies.concept_judges.page import as_page, summarise
from studies.concept_judges.study import SIZES

TEXTS = SIZES["tiny"].texts
ABOUT = {
    "corpora": {"pocket": "pocket"},
    "seeds": 4,
    "texts": TEXTS,
    "epochs": 1,
    "layer": 1,
    "concepts": 3,
    "removals": 4,
}


def run(seed, over, better="higher"):
    verdict = {"value": 0.5 + over, "chance": 0.5, "over": over, "better": better}
    return {"corpus": "pocket", "seed": seed, "accuracy": 0.9, "ways": {"nmf": {"variance": verdict}}}


@pytest.mark.parametrize(
    ("over", "better", "mark"),
    [
        ((0.2, 0.21, 0.22), "higher", "▲"),
        ((0.2, 0.21, 0.22), "lower", "▼"),
        ((-0.2, -0.21, -0.22), "lower", "▲"),
        ((-0.2, 0.1, 0.3), "higher", "○"),
        ((-0.025, -0.025, -0.025), "higher", "○"),
        ((float("nan"), 0.1, 0.2), "higher", "○"),
        ((0.2, 0.21), "higher", "·"),
    ],
)
def test_a_mark_needs_an_interval_over_seeds_that_leaves_out_chance(over, better, mark):
    numbers = summarise(ABOUT, [run(seed, value, better) for seed, value in enumerate(over)])
    assert numbers["judged"]["pocket"]["nmf"]["variance"]["mark"] == mark
    assert f"{mark} |" in as_page(numbers) and "pocket with seed 3" in as_page(numbers)


def test_a_cell_has_the_mean_and_the_t_interval_of_the_difference_inside_its_range():
    page = as_page(summarise(ABOUT, [run(seed, value) for seed, value in enumerate((0.1, 0.2, 0.3))]))
    assert "| 0.700<br>0.200 (−0.053 to 0.429) ○ |" in page
