"""Table 2 of S0 in small: the difference of two translators over seeds and sentences, and what the page says."""

import numpy as np
import pytest

from studies.s0_translation.page import as_page
from studies.s0_translation.summary import difference_over_seeds, summarise
from studies.shared.claims import claim_of

pytest.importorskip("sacrebleu")
from pellucid.writing.bleu import bleu_of_means, sentence_statistics

REFERENCES = [
    "the cat sat on the mat",
    "a dog runs along the beach",
    "two men stand in front of a house .",
] * 6
GOOD = ["the cat sat on the mat", "a dog runs on the beach", "two men stand in front of a house ."] * 6
POOR = ["the cat on the mat", "a dog runs at some beach", "two men are standing near a house ."] * 6
ABOUT = {
    "title": "Multi30k",
    "seeds": {"plain": 3, "span": 3, "static": 1},
    "tests": {"test": 18},
    "n_train": 5,
    "epochs": 1,
    "beam": 5,
    "explained": 2,
    "pieces": 400,
    "network": {"layers": 1, "width": 16},
}
SPANS = {"words": 9, "leading": 4, "effective_spans": 1.5, "carried": 0.4, "little": 0.25}


def run(variant, seed, texts):
    statistics = sentence_statistics(texts, REFERENCES).astype(int).tolist()
    bleu = float(bleu_of_means(np.mean(statistics, 0)[None], len(texts))[0])
    test = {
        "bleu": bleu,
        "chrf": 50.0,
        "signature": "tok:13a",
        "first": [["a|b", "c"]],
        "statistics": statistics,
    }
    spans = None if variant == "plain" else SPANS
    history = [{"dev_loss": 2.0 + 0.1 * seed}]
    return {"variant": variant, "seed": seed, "tests": {"test": test}, "history": history, "spans": spans}


def test_a_difference_has_the_spread_of_seeds_and_of_sentences():
    good, poor = (run("span", 0, texts)["tests"]["test"] for texts in (GOOD, POOR))
    one = difference_over_seeds([good["statistics"]], [poor["statistics"]])
    assert one.mean == pytest.approx(good["bleu"] - poor["bleu"]) and one.low < one.mean < one.high
    equal = difference_over_seeds([good["statistics"]] * 3, [poor["statistics"]] * 3)
    assert equal.high - equal.low == pytest.approx(one.high - one.low)  # seeds alike add no spread
    mixed = difference_over_seeds(
        [good["statistics"], good["statistics"], poor["statistics"]], [poor["statistics"]] * 3
    )
    assert mixed.high - mixed.low > 2 * (one.high - one.low)


def test_the_page_has_the_verdict_and_what_is_missing():
    runs = [run("span", seed, GOOD) for seed in range(3)] + [run("plain", seed, POOR) for seed in range(3)]
    numbers = summarise(ABOUT, runs)
    (claim,) = map(claim_of, numbers["claims"])
    assert claim.verdict == "reproduced" and claim.seeds == 3 and claim.paper == 0.5
    page = as_page(numbers)
    assert "static (seed 0)" in page and "| spans | 0 | 9 | 1.5 | 40 % | 25 % |" in page
    assert "**reproduced**" in page and "tok:13a" in page and "a\\|b" in page
    two = summarise(ABOUT, [one for one in runs if one["seed"] < 2])
    assert "no verdict: 2 seeds" in as_page(two)
