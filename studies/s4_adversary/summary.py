"""The curves over seeds, and the claim of section 4.3: of a regularised model, far weights cost more of the answers."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.base.json_text import nan_as_none
from pellucid.results.bootstrap import NOT_NEGATIVE, t_interval
from studies.s4_fragility.summary import missing_seeds
from studies.shared.attention_models import PAPER_NAMES
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.units import Numbers

Runs = Sequence[Numbers]  # one model's curves, in the order of their seeds
LEAST_FARTHER = 0.01  # nats: less is no way along the curve, and its price cannot be said


def summarise(about: Numbers, runs: Runs) -> Numbers:
    """Of finished units; models: variant -> the points of its curve, and what a nat costs by seed."""
    models: dict[str, list[Numbers]] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        models.setdefault(run["variant"], []).append(run)
    return {
        "about": about,
        "models": {variant: _model(of) for variant, of in models.items()},
        "claims": [asdict(one) for one in claims(models, about["n_test"])],
        "missing": models_with_seeds(
            {PAPER_NAMES[one]: missing_seeds(about["seeds"], models.get(one, ())) for one in about["variants"]}
        ),
        "machines": count_machines(runs),
    }


def claims(models: Mapping[str, Runs], texts: int) -> list[Claim]:
    """What a nat of divergence costs more than in the plain model, in points of the answers' distance, seed by seed."""
    base, tested = _costs(models.get("base", ())), []
    for variant in models:
        costs = _costs(models[variant])
        seeds = [seed for seed in base.keys() & costs.keys() if not math.isnan(base[seed] + costs[seed])]
        if variant != "base" and seeds:
            words = f"weights farther away cost more of the answers of {PAPER_NAMES[variant]} than of Base"
            over = t_interval([100 * (costs[seed] - base[seed]) for seed in sorted(seeds)])
            tested.append(Claim(words, None, over, len(seeds), texts))
    return tested


def cost_of_a_nat(points: Sequence[Numbers]) -> float:
    """The rise of the answers' distance over that of the weights' divergence, from the smallest λ to the largest; nan
    without a way.
    """
    first, last = points[0], points[-1]
    farther = float(last["divergence"] - first["divergence"])
    return float(last["distance"] - first["distance"]) / farther if farther >= LEAST_FARTHER else math.nan


def _costs(runs: Runs) -> dict[int, float]:
    return {run["seed"]: cost_of_a_nat(run["points"]) for run in runs}


def _model(runs: Runs) -> Numbers:
    points = []
    for number, first in enumerate(runs[0]["points"]):
        values = {name: [run["points"][number][name] for run in runs] for name in ("divergence", "distance")}
        intervals = {name: asdict(t_interval(of, NOT_NEGATIVE)) for name, of in values.items()}
        points.append({"divergence_weight": first["divergence_weight"], **intervals})
    costs = np.array(list(_costs(runs).values()))
    return nan_as_none({"seeds": len(runs), "points": points, "cost": costs.tolist()})
