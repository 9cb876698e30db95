"""The study of the planted word: dev chooses the layer, test judges it, and a classifier that learnt nothing is left
out.
"""

import pytest

from studies.s1_planted.page import as_page
from studies.s1_planted.summary import summarise

DEV = {
    "chance": 0.3,
    "decoded_saliency l0": 0.5,
    "decoded_saliency l1": 0.9,
    "grad_cam l0": 0.4,
    "grad_cam l1": 0.2,
}
TEST = {
    "chance": 0.3,
    "decoded_saliency l0": 1.0,
    "decoded_saliency l1": 0.8,
    "grad_cam l0": 0.4,
    "grad_cam l1": 0.3,
}


def run(seed, accuracy=1.0):
    """One seed's numbers for four texts, which differ a little from text to text and from seed to seed."""
    parts = {
        split: {
            "found": {
                title: [mean - 0.02 + 0.01 * text + 0.001 * seed for text in range(4)] for title, mean in means.items()
            },
            "recovery": {"0": 0.5, "1": 0.75},
        }
        for split, means in (("dev", DEV), ("test", TEST))
    }
    return {"seed": seed, "accuracy": accuracy, "digest": "0", "precisions": parts}


def test_dev_chooses_the_layer_and_test_judges_it():
    numbers = summarise([run(seed) for seed in range(3)], "")
    assert numbers["layers"] == {"decoded_saliency": 1, "grad_cam": 0}
    chance, same, vanilla = numbers["claims"]
    assert chance["measured"]["mean"] == pytest.approx(50) and chance["seeds"] == 3
    assert same["measured"]["mean"] == pytest.approx(50) and vanilla["measured"]["mean"] == pytest.approx(40)
    page = as_page(numbers)
    assert "decoded_saliency: l = 1" in page and page.count("**reproduced**") == 3
    assert "0.296 [" in page and " ·" in page  # undecoded layer 1 is not told from chance


def test_what_was_not_learnt_is_left_out_and_few_seeds_are_no_verdict():
    numbers = summarise([run(0), run(1), run(2, accuracy=0.7)], "runs/lens")
    assert numbers["seeds"] == 2 and numbers["not_learnt"] == [2]
    page = as_page(numbers)
    assert "left out: seed 2" in page and page.count("no verdict: 2 seeds") == 3
    nothing = as_page(summarise([run(0, accuracy=0.5)], ""))
    assert "nothing can be said about explanations" in nothing
