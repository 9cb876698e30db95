"""Curves of right answers over seeds, and the paper's claims: which methods take the answer away, and which are like
random words.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import SHARE, mean_over_runs, paired_difference_over_runs
from pellucid.results.table import Interval
from studies.s2_deletion.methods import CHANCE, PAPER, VARIANTS, released
from studies.s2_deletion.paper import FIGURE_1, WORD_COUNTS
from studies.shared.claims import Claim, SameClaim
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers

Shares = Mapping[
    int, np.ndarray
]  # seed -> [text point]: share of draws that are right; nan for a text that was not judged
Curves = Mapping[str, Mapping[str, Shares]]  # operator -> method -> shares


def summarise(about: Numbers, records: Records) -> Numbers:
    """The numbers of result.json: curves and claims of every data set, and what is missing."""
    units = list(records["deletion"].values())
    tasks, missing = {}, {}
    for task, of_task in about["tasks"].items():
        own = [unit for unit in units if unit["task"] == task]
        for group in ("corrected", "released"):
            seeds = {unit["seed"] for unit in own if unit["about"]["group"] == group}
            missing[f"{of_task['title']}, {group}"] = sorted(set(range(about["seeds"])) - seeds)
        if own:
            tasks[task] = _task(task, curves_of(own, about["draws"], about["most"]), about["most"])
    return {
        "about": about,
        "tasks": tasks,
        "missing": models_with_seeds(missing),
        "machines": count_machines(units),
    }


def curves_of(units: Sequence[Numbers], draws: int, most: int) -> Curves:
    """The shares of right answers from the digits of the units of one data set."""
    curves: dict[str, dict[str, dict[int, np.ndarray]]] = {}
    for unit in units:
        for operator, of_operator in unit["right"].items():
            for name, texts in of_operator.items():
                by_seed = curves.setdefault(operator, {}).setdefault(name, {})
                by_seed[unit["seed"]] = _shares(texts, draws if name == CHANCE else 1, most + 1)
    return curves


def claims(task: str, curves: Curves, most: int) -> dict[str, list[Claim]]:
    """METHODS section 3, S2, of figure 1, by operator; in points of right answers, positive where the paper says so."""
    paper, points = FIGURE_1.get(task, {}), [k for k in WORD_COUNTS if k <= most]
    return {
        operator: [
            *(
                _claim(f"{name} takes more answers away than random words", paper, of, CHANCE, name, points)
                for name in ("GS", "GI", "LRP")
                if name in of and CHANCE in of
            ),
            *(
                _claim(f"{other} and GS are almost the same", paper, of, other, "GS", points, SameClaim)
                for other in ("GI", "LRP")
                if other in of and "GS" in of
            ),
            *_attention(paper, of, points),
            *_released(of, points),
        ]
        for operator, of in curves.items()
    }


def difference(of: Mapping[str, Shares], more: str, less: str, points: Sequence[int]) -> tuple[Interval, int, int]:
    """Right answers under one method less those under the other in points, over texts and seeds that both have; the
    seeds; and how many texts all of them answer right at first.
    """
    seeds = sorted(of[more].keys() & of[less].keys())
    sides = [np.array([of[name][seed][:, points].mean(1) for seed in seeds]) for name in (more, less)]
    texts = int((~np.isnan(sides[0] - sides[1]).any(0)).sum())
    return paired_difference_over_runs(100 * sides[0], 100 * sides[1]), len(seeds), texts


def _claim(
    words: str,
    paper: Mapping[str, Sequence[float]],
    of: Mapping[str, Shares],
    more: str,
    less: str,
    points: Sequence[int],
    kind: type[Claim] = Claim,
) -> Claim:
    measured, seeds, texts = difference(of, more, less, points)
    return kind(words, _in_paper(paper, more, less, points), measured, seeds, texts)


def _attention(paper: Mapping[str, Sequence[float]], of: Mapping[str, Shares], points: Sequence[int]) -> list[Claim]:
    """LAT is like random words; for one word even worse, as the numbers behind the figure show."""
    if "LAT" not in of or CHANCE not in of:
        return []
    same = _claim("LAT and random words are almost the same", paper, of, "LAT", CHANCE, points, SameClaim)
    one = "LAT takes fewer answers away than random words, by its first word"
    return [same, _claim(one, paper, of, "LAT", CHANCE, points[:1])]


def _released(of: Mapping[str, Shares], points: Sequence[int]) -> list[Claim]:
    """Ours, not of the paper: what the released code's class and rules cost."""
    return [
        _claim(f"{name} takes more answers away than as released", {}, of, released(name), name, points)
        for name in PAPER
        if name in of and released(name) in of
    ] + [
        _claim(f"LRP takes more answers away than {name}", {}, of, name, "LRP", points)
        for name in VARIANTS
        if name in of and "LRP" in of
    ]


def _in_paper(paper: Mapping[str, Sequence[float]], more: str, less: str, points: Sequence[int]) -> float | None:
    if more not in paper or less not in paper:
        return None
    places = [WORD_COUNTS.index(k) for k in points]
    return round(100 * float(np.mean([paper[more][at] - paper[less][at] for at in places])), 1)


def _task(task: str, curves: Curves, most: int) -> Numbers:
    return {
        "curves": {operator: {name: _curve(shares) for name, shares in of.items()} for operator, of in curves.items()},
        "claims": {
            operator: [asdict(one) | {"same": isinstance(one, SameClaim)} for one in listed]
            for operator, listed in claims(task, curves, most).items()
        },
    }


def _curve(shares: Shares) -> Numbers:
    """The mean curve over texts that are right at first under all seeds, with its interval at each point."""
    runs = np.array([shares[seed] for seed in sorted(shares)])
    intervals = [mean_over_runs(runs[..., point], SHARE) for point in range(runs.shape[-1])]
    return {
        "seeds": len(runs),
        "n": int((~np.isnan(runs).any(-1)).all(0).sum()),
        "points": [asdict(one) for one in intervals],
    }


def _shares(texts: Sequence[str], draws: int, points: int) -> np.ndarray:
    """[text point] from digits."""
    unknown = [np.nan] * points
    return np.array([[int(one) / draws for one in text] or unknown for text in texts])
