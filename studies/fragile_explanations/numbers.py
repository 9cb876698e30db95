"""Of each method: in what share of texts one synonym replaces its highest words, with an interval over seeds and
texts.
"""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results import bootstrap
from pellucid.results.table import Interval
from studies.fragile_explanations.sizes import CHANCE
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers

PERCENT = 100.0
Runs = Sequence[Numbers]


def summarise(about: Numbers, records: Records) -> Numbers:
    """The numbers of the page from the finished units."""
    by_method: dict[str, list[Numbers]] = {}
    for run in sorted(records["methods"].values(), key=lambda run: run["seed"]):
        by_method.setdefault(run["method"], []).append(run)
    chance = by_method.get(CHANCE, [])
    rows = [_row(method, runs, chance) for method, runs in by_method.items()]
    return {
        "about": about,
        "rows": sorted(rows, key=lambda row: row["moved"]["mean"]),
        "missing": models_with_seeds(
            {
                method: [one for one in range(about["seeds"]) if one not in {run["seed"] for run in runs}]
                for method, runs in by_method.items()
            }
        ),
        "machines": count_machines([*records["victims"].values(), *records["methods"].values()]),
    }


def moved(runs: Runs) -> np.ndarray:
    """[seed text (1 where it moved, 1 where it was attacked)], of texts that were answered right."""
    return np.array(
        [
            [
                [one["ending"] == "success", one["ending"] not in ("wrong before", "reached before")]
                for one in run["texts"]
            ]
            for run in runs
        ],
        dtype=float,
    )


def _share(means: np.ndarray) -> np.ndarray:
    return PERCENT * means[..., 0] / np.maximum(means[..., 1], 1e-12)


def _row(method: str, runs: Runs, chance: Runs) -> Numbers:
    texts = [one for run in runs for one in run["texts"] if one["ending"] == "success" and one["tau"] is not None]
    return {
        "method": method,
        "seeds": len(runs),
        "moved": asdict(interval_over_seeds(moved(runs), _share, bootstrap.PERCENT)),
        "below_chance": None if method == CHANCE else _below(runs, chance),
        "tau": float(np.mean([one["tau"] for one in texts])) if texts else None,
    }


def _below(runs: Runs, chance: Runs) -> dict[str, float] | None:
    """How many points fewer texts are moved than of chance, on the seeds that both have."""
    by_seed = {run["seed"]: run for run in chance}
    pairs = [(by_seed[run["seed"]], run) for run in runs if run["seed"] in by_seed]
    if not pairs:
        return None
    columns = np.concatenate([moved([one for one, _ in pairs]), moved([other for _, other in pairs])], -1)

    def lower(means: np.ndarray) -> np.ndarray:
        return np.asarray(_share(means[..., :2]) - _share(means[..., 2:]))

    of: Interval = interval_over_seeds(columns, lower)
    return asdict(of)
