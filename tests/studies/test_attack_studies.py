"""The studies of orders, of explanations that move, and of learning from fooled texts: signs, shares and what pages
say.
"""

import pytest

from studies.attack_orders import numbers as of_orders
from studies.attack_orders.page import as_page as orders_page
from studies.attack_orders.page import as_picture
from studies.attack_training import numbers as of_lessons
from studies.attack_training.page import as_page as lessons_page
from studies.fragile_explanations import numbers as of_moves
from studies.fragile_explanations.page import as_page as moves_page
from studies.shared.claims import claim_of

ABOUT = {
    "task": "sst2",
    "title": "SST-2",
    "encoder": "minilm",
    "words": None,
    "epochs": 1,
    "seeds": 3,
    "n_train": 10,
    "n_dev": 4,
    "n_test": 4,
}
SOON = [("success", 3), ("success", 8), ("exhausted", 40), ("wrong before", 0)]
LATE = [("success", 9), ("exhausted", 50), ("exhausted", 40), ("wrong before", 0)]


def texts(endings):
    return [{"ending": ending, "queries": queries, "tau": 0.2, "overlap": 0.0} for ending, queries in endings]


def units(name, by_name):
    return {
        f"{one}-{seed}": {name: one, "seed": seed, "texts": texts(endings * 20)}
        for seed in range(3)
        for one, endings in by_name.items()
    }


def test_an_order_that_needs_fewer_queries_than_random_order_is_better():
    orders = units("order", {"random_order": LATE, "occlusion": SOON, "gradient": LATE})
    numbers = of_orders.summarise(ABOUT, {"victims": {}, "orders": orders})
    lower = {row["order"]: row["lower"] for row in numbers["rows"]}
    assert lower["occlusion"]["mean"] == pytest.approx(25.0) and lower["gradient"]["mean"] == 0
    assert numbers["rows"][0]["order"] == "occlusion"
    page = orders_page(numbers)
    assert (
        "| +25.0 [" in page and "| **better**; 80 texts, 0% never tried |" in page and page.count("**undecided**") == 1
    )
    assert as_picture(numbers).count("<polyline") == 3


def test_what_moves_is_a_share_of_the_texts_that_were_attacked():
    methods = units("method", {"chance": SOON, "gradient": LATE})
    numbers = of_moves.summarise(ABOUT, {"victims": {}, "methods": methods})
    gradient, chance = numbers["rows"]
    assert gradient["moved"]["mean"] == pytest.approx(100 / 3) and chance["moved"]["mean"] == pytest.approx(200 / 3)
    assert gradient["below_chance"]["mean"] == pytest.approx(100 / 3) and chance["below_chance"] is None
    assert "| gradient | 3 | 33.3 [" in moves_page(numbers)


def test_standing_an_attack_better_counts_as_a_gain():
    def judged(endings):
        return {"right": [True, True, True, False] * 20, "texts": texts(endings * 20)}

    runs = {
        f"{victim}-{seed}": {
            "victim": victim,
            "seed": seed,
            "fooled": 7,
            "first": judged(SOON),
            "second": judged(LATE if victim == "self" else SOON),
        }
        for victim in ("self", "plain")
        for seed in range(3)
    }
    numbers = of_lessons.summarise(ABOUT, 30, {"victims": {}, "lessons": runs})
    claims = {one.words: one for one in map(claim_of, numbers["claims"])}
    own = claims["learning from fooled texts lets the model that explains itself stand the attack better"]
    assert own.measured.mean == pytest.approx(25.0) and own.verdict == "reproduced"
    more = claims["under attack, the model that explains itself gains more than its twin"]
    assert more.measured.mean == pytest.approx(25.0)
    assert "| fooled texts too | 3 | 75.0 [" in lessons_page(numbers)
