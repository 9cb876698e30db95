"""Table 8 of S0: accuracy at few queries, differences on the same texts, and what the page says."""

import math

import pytest

from studies.s0_attacks.numbers import summarise
from studies.s0_attacks.page import as_page, as_picture
from studies.shared.attacked_accuracy import accuracy, difference
from studies.shared.claims import claim_of

ABOUT = {
    "task": "imdb",
    "title": "IMDb",
    "encoder": "bilstm",
    "words": 200,
    "epochs": 1,
    "seeds": 3,
    "n_train": 10,
    "n_dev": 4,
    "n_test": 4,
}


def run(attack, endings, victim="self", seed=0):
    """endings: of each text, (ending, queries)."""
    texts = [{"ending": ending, "queries": queries, "edited": 0.1, "similarity": 0.9} for ending, queries in endings]
    return {"victim": victim, "attack": attack, "seed": seed, "texts": texts, "shown": [], "seconds": 1.0}


FEW = [("success", 3), ("success", 12), ("exhausted", 40), ("wrong before", 0)]
MANY = [("success", 9), ("exhausted", 50), ("exhausted", 40), ("wrong before", 0)]


def test_a_text_stands_until_the_query_that_fooled_it():
    at = {queries: accuracy([run("pwws", FEW)], queries).mean for queries in (1, 3, 11, 12, math.inf)}
    assert at == {1: 75.0, 3: 50.0, 11: 50.0, 12: 25.0, math.inf: 25.0}


def test_a_difference_is_of_the_same_texts():
    stronger, weaker = run("span_paraphrase", FEW), run("pwws", MANY)
    assert difference([weaker], [stronger], math.inf).mean == pytest.approx(25.0)
    assert difference([weaker], [stronger], 5).mean == pytest.approx(25.0)
    assert difference([weaker], [weaker], math.inf).high == 0.0


def test_the_page_has_verdicts_the_papers_numbers_and_what_is_missing():
    attacks = {
        f"{attack}-{seed}": run(attack, endings, seed=seed)
        for seed in range(3)
        for attack, endings in (("random", MANY * 20), ("pwws", MANY * 20), ("span_paraphrase", FEW * 20))
    }
    victims = {
        f"{victim}-{seed}": {"victim": victim, "seed": seed, "right": [True, True, True, False] * 20}
        for victim in ("self", "plain")
        for seed in range(3)
    }
    numbers = summarise(ABOUT, {"victims": victims, "attacks": attacks})
    verdicts = {one.words: one.verdict for one in map(claim_of, numbers["claims"])}
    assert verdicts["the span attack leaves fewer right answers than pwws"] == "reproduced"
    assert verdicts["pwws leaves fewer right answers than random order"] == "undecided"
    page = as_page(numbers)
    assert "| explains itself | span paraphrase | 3 | 25.0 [" in page and "| 0.86 |" in page
    assert "gradient on self (seeds 0, 1, 2)" in page and "+1.1 |" in page
    assert as_picture(numbers).count("<polyline") == 3


def test_an_attack_without_anything_to_edit_in_most_texts_of_a_seed_gets_no_verdict():
    untried = [("nothing to edit", 0), ("nothing to edit", 0), ("success", 3)]
    spans = [("exhausted", 9), ("exhausted", 9), ("success", 3)]
    attacks = {
        f"{attack}-{seed}": run(attack, (untried if seed == 2 and attack != "pwws" else spans) * 20, seed=seed)
        for seed in range(3)
        for attack in ("pwws", "span_paraphrase")
    }
    victims = {f"self-{seed}": {"victim": "self", "seed": seed, "right": [True] * 60} for seed in range(3)}
    (claim, *_) = map(claim_of, summarise(ABOUT, {"victims": victims, "attacks": attacks})["claims"])
    assert claim.verdict == "no verdict: of one seed's texts only 33% were tried" and "22% never tried" in claim.beside
