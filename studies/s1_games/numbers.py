"""The games summed up over seeds: areas with intervals, the layer that dev chooses, and the paper's claims."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import SHARE, mean_over_runs, paired_difference_over_runs
from pellucid.results.table import Interval
from studies.s1_games.tasks import ALLENNLP, DECODED, PAPER, UNDECODED
from studies.shared.claims import Claim
from studies.shared.study import Records
from studies.shared.units import Numbers

GAMES = ("revealing", "hiding")
SHAPLEY, CHANCE = "thermostat_shapley_sampling", "chance"
Areas = Mapping[str, Mapping[int, Sequence[float]]]  # method -> seed -> the area of each text


def summarise(records: Records, about: Numbers, missing: Mapping[str, str]) -> Numbers:
    """The numbers of result.json: for each method both areas with intervals and mean curves; layers; claims."""
    units = list(records.get("games", {}).values())
    areas = {split: {game: _areas(units, split, game) for game in GAMES} for split in ("dev", "test")}
    layers = {name: layer for name in (DECODED, UNDECODED) if (layer := best_layer(areas["dev"], name)) is not None}
    return {
        "about": about,
        "models": [_about_model(one) for one in records.get("models", {}).values()],
        "missing": dict(missing),
        "layers": layers,
        "methods": {
            method: {game: asdict(_mean(areas["test"][game][method])) for game in GAMES}
            for method in areas["test"]["hiding"]
        },
        "alike": alike(areas["test"]),
        "curves": {game: _curves(units, game) for game in GAMES},
        "claims": [asdict(one) for one in claims(areas["test"], layers, about["task"])],
    }


def alike(areas: Mapping[str, Areas]) -> list[list[str]]:
    """Groups of methods with the same area for every text and seed in both games: they rank the words of no text
    differently.
    """
    groups: dict[str, list[str]] = {}
    for method in areas["hiding"]:
        groups.setdefault(str([areas[game][method] for game in GAMES]), []).append(method)
    return [group for group in groups.values() if len(group) > 1]


def best_layer(areas: Mapping[str, Areas], method: str) -> int | None:
    """The layer with the largest mean of revealing less hiding, over seeds and texts; the lowest of equal ones; None
    for none.
    """
    gains = {
        int(title.rpartition(" l")[2]): np.mean(
            [np.mean(areas["revealing"][title][seed]) - np.mean(areas["hiding"][title][seed]) for seed in seeds]
        )
        for title, seeds in areas["revealing"].items()
        if title.startswith(f"{method} l")
    }
    return max(sorted(gains), key=gains.__getitem__) if gains else None


def claims(areas: Mapping[str, Areas], layers: Mapping[str, int], task: str) -> list[Claim]:
    """METHODS section 3, S1: each claim as a difference in points that the paper says is positive; those that were
    run.
    """
    tested = []
    for words, game, more, less, paper in _differences(layers, task):
        method_areas = areas[game]
        if more in method_areas and less in method_areas:
            seeds = sorted(method_areas[more].keys() & method_areas[less].keys())
            first, second = (np.array([method_areas[one][seed] for seed in seeds]) for one in (more, less))
            sign = 1 if game == "revealing" else -1
            measured = paired_difference_over_runs(100 * sign * first, 100 * sign * second)
            tested.append(Claim(f"{game}: {words}", paper, measured, *first.shape))
    return tested


def _differences(layers: Mapping[str, int], task: str) -> list[tuple[str, str, str, str, float | None]]:
    """(words, game, the better method, the other, the paper's points) of every claim."""
    rows: list[tuple[str, str, str, str, float | None]] = []
    known = PAPER.get(task, {})
    if DECODED in layers:
        ours = f"{DECODED} l{layers[DECODED]}"
        rivals = {f"{UNDECODED} l0": "vanilla saliency of l0", CHANCE: "random scores"}
        rivals |= {str(one): f"{one}" for one in ALLENNLP} if task == "sst2" else {}
        for game in GAMES:
            rows += [
                (
                    f"the decoded layer of dev beats {name}",
                    game,
                    ours,
                    rival,
                    _points(known, game, "decoded", rival),
                )
                for rival, name in rivals.items()
            ]
            same = f"{UNDECODED} l{layers[DECODED]}"
            rows.append(("decoding helps: the same layer without it is worse", game, ours, same, None))
        shapley = _points(known, "hiding", SHAPLEY, "decoded")
        rows.append(("Shapley sampling hides better than the decoded layer", "hiding", SHAPLEY, ours, shapley))
    rows += [
        (
            f"Shapley sampling hides better than {rival}",
            "hiding",
            SHAPLEY,
            rival,
            _points(known, "hiding", SHAPLEY, rival),
        )
        for rival in ("thermostat_integrated_gradients", "thermostat_occlusion", CHANCE)
    ]
    return rows


def _points(known: Mapping[str, tuple[float, float]], game: str, more: str, less: str) -> float | None:
    """The paper's difference in points, positive where `more` is better; None where it has no such numbers."""
    less = less.replace(f"{UNDECODED} l0", "undecoded l0")
    if more not in known or less not in known:
        return None
    number, sign = GAMES.index(game), 1 if game == "revealing" else -1
    return round(100 * sign * (known[more][number] - known[less][number]), 1)


def _areas(units: Sequence[Numbers], split: str, game: str) -> Areas:
    areas: dict[str, dict[int, Sequence[float]]] = {}
    for one in units:
        if one["split"] == split:
            areas.setdefault(one["method"], {})[one["seed"]] = one["values"][game]
    return areas


def _mean(by_seed: Mapping[int, Sequence[float]]) -> Interval:
    values = np.array([by_seed[seed] for seed in sorted(by_seed)])
    return mean_over_runs(values, SHARE)


def _curves(units: Sequence[Numbers], game: str) -> dict[str, list[float]]:
    """Method -> the share of right answers at 0, 5, ..., 100 % of the tokens, over test texts and seeds."""
    curves: dict[str, list[list[float]]] = {}
    for one in units:
        if one["split"] == "test":
            curves.setdefault(one["method"], []).append(one["curves"][game])
    return {method: np.mean(of, axis=0).round(4).tolist() for method, of in curves.items()}


def _about_model(unit: Numbers) -> Numbers:
    return {name: unit[name] for name in ("seed", "accuracy", "digest")}
