"""Of each order: how many answers it has changed after few queries, and how far it is from random order on the same
texts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from studies.attack_orders.sizes import RANDOM
from studies.s0_attacks.numbers import never_tried
from studies.shared.attacked_accuracy import accuracy, difference
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers

QUERIES = (5, 10, 20, 50)
DRAWN = (1, 2, 5, 10, 20, 50, 100, 200)  # of the picture
COMPARED = 10  # queries at which orders are compared with random order
Runs = Sequence[Numbers]


def summarise(about: Numbers, records: Records) -> Numbers:
    """The numbers of the page from the finished units."""
    by_order: dict[str, list[Numbers]] = {}
    for run in sorted(records["orders"].values(), key=lambda run: run["seed"]):
        by_order.setdefault(run["order"], []).append(run)
    rows = [_row(order, runs, by_order) for order, runs in by_order.items()]
    seeds = {order: [run["seed"] for run in runs] for order, runs in by_order.items()}
    return {
        "about": about,
        "rows": sorted(rows, key=lambda row: row["at"][QUERIES.index(COMPARED)]["mean"]),
        "missing": models_with_seeds(
            {order: [one for one in range(about["seeds"]) if one not in of] for order, of in seeds.items()}
        ),
        "machines": count_machines([*records["victims"].values(), *records["orders"].values()]),
    }


def _row(order: str, runs: Runs, by_order: Mapping[str, Runs]) -> Numbers:
    random = {run["seed"]: run for run in by_order.get(RANDOM, ())}
    pairs = [(random[run["seed"]], run) for run in runs if run["seed"] in random]
    lower = None
    if pairs and order != RANDOM:
        lower = asdict(difference([one for one, _ in pairs], [other for _, other in pairs], COMPARED))
    return {
        "order": order,
        "seeds": len(runs),
        "texts": len(runs[0]["texts"]),
        "never_tried": never_tried(runs),
        "at": [asdict(accuracy(runs, queries)) for queries in QUERIES],
        "after": asdict(accuracy(runs, np.inf)),
        "curve": [[np.log10(queries), asdict(accuracy(runs, queries))] for queries in DRAWN],
        "lower": lower,
    }
