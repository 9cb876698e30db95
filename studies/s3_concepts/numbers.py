"""r by layer and concept over seeds, and the paper's three claims, under both densities."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pellucid.layers.concept_analysis import GAUSSIAN, SUBSTITUTION
from pellucid.results.bootstrap import mean_over_runs, t_interval
from studies.shared.claims import Claim
from studies.shared.units import Numbers

DISTINGUISHED = 1.2  # the paper: the largest r over the smallest of BiLSTM and CNN is more than this
OF_CONTRAST = ("BiLSTM", "CNN")
USED_MOST = "negative emotion"  # of the word's attributes, by the paper, in all models but this one
EXCEPT = "Transformer"
ONE_TEXT = 1  # one word of one sentence


def summarise(units: Sequence[Numbers], about: Numbers) -> Numbers:
    """The numbers of result.json."""
    by_model: dict[str, list[Numbers]] = {}
    for one in units:
        by_model.setdefault(one["model"], []).append(one)
    return {
        "about": about,
        "concepts": units[0]["concepts"],
        "layers": {name: of[0]["layers"] for name, of in by_model.items()},
        "remaining": {
            name: {density: _values(of, density).mean(0).tolist() for density in (GAUSSIAN, SUBSTITUTION)}
            for name, of in by_model.items()
        },
        "settled": {name: float(np.mean([one["settled"] for one in of])) for name, of in by_model.items()},
        "falls": [_record(one) for one in falls(by_model)],
        "used_most": [_record(one) for one in used_most(by_model)],
        "contrasts": [_record(one) for one in contrasts(by_model)],
    }


def falls(by_model: Mapping[str, Sequence[Numbers]]) -> list[Claim]:
    """The paper: r falls with depth. By how many percent of layer 1's r is that of the last layer lower? Over concepts
    and seeds.
    """
    claims = []
    for name, of in by_model.items():
        layers = of[0]["layers"]
        if layers[-1] < 2:
            continue  # one layer: nothing to fall
        for density in (GAUSSIAN, SUBSTITUTION):
            values = _values(of, density)
            first, last = values[:, layers.index(1)], values[:, -1]
            fall = 100 * (first - last) / np.maximum(np.abs(first), 1e-12)
            measured = mean_over_runs(fall)
            claims.append(
                Claim(
                    f"{name}, {density}: r falls from layer 1 to {layers[-1]}",
                    None,
                    measured,
                    len(of),
                    ONE_TEXT,
                    _settled(of),
                )
            )
    return claims


def used_most(by_model: Mapping[str, Sequence[Numbers]]) -> list[Claim]:
    """The paper: of all concepts negative emotion has the smallest r, except in the Transformer. In the last layer, by
    how many percent of negative emotion's r is the smallest of the rest larger? Of the Transformer, smaller.
    """
    claims = []
    for name, of in by_model.items():
        place = of[0]["concepts"].index(USED_MOST) if USED_MOST in of[0]["concepts"] else None
        if place is None or len(of[0]["concepts"]) < 2:
            continue
        for density in (GAUSSIAN, SUBSTITUTION):
            last = _values(of, density)[:, -1]
            lead = 100 * (np.delete(last, place, axis=1).min(1) / last[:, place] - 1)
            is_except = name == EXCEPT
            words = f"{name}, {density}: {USED_MOST} {'does not have' if is_except else 'has'} the smallest r"
            measured = t_interval(-lead if is_except else lead)
            claims.append(Claim(words, None, measured, len(of), ONE_TEXT, _settled(of)))
    return claims


def contrasts(by_model: Mapping[str, Sequence[Numbers]]) -> list[Claim]:
    """The paper: of LSTM and CNN the largest r is more than 1.2 times the smallest; here in the last layer, less
    1.2.
    """
    claims = []
    for name in (one for one in OF_CONTRAST if one in by_model):
        for density in (GAUSSIAN, SUBSTITUTION):
            last = [one["densities"][density]["contrast"][-1] for one in by_model[name]]
            known = np.array([value for value in last if value is not None], dtype=float)
            words = f"{name}, {density}: largest r over smallest, less {DISTINGUISHED}"
            measured = t_interval(known - DISTINGUISHED)
            claims.append(Claim(words, None, measured, len(known), ONE_TEXT, _settled(by_model[name])))
    return claims


def _settled(units: Sequence[Numbers]) -> str:
    return f"{np.mean([one['settled'] for one in units]):.0%} of searches settled"


def _values(units: Sequence[Numbers], density: str) -> np.ndarray:
    """[seed layer concept]: r."""
    return np.array([one["densities"][density]["remaining"] for one in units], dtype=float)


def _record(claim: Claim) -> dict[str, Any]:
    return asdict(claim)
