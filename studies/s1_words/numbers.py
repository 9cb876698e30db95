"""Overlap of the classes' lists over seeds, each method beside its controls, and the paper's claim."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pellucid.results.bootstrap import PERCENT, Range, t_interval
from pellucid.results.table import Interval
from pellucid.results.word_lists import SUMS
from studies.s1_games.tasks import DECODED
from studies.shared.claims import Claim
from studies.shared.study import Records
from studies.shared.units import Numbers


def summarise(records: Records, about: Numbers, missing: Mapping[str, str]) -> Numbers:
    """The numbers of result.json: of each method the overlap at its longest lists, curves, words and shared words of
    seed 0.
    """
    units = list(records.get("lists", {}).values())
    by_method: dict[str, list[Numbers]] = {}
    for one in units:
        by_method.setdefault(one["method"], []).append(one)
    return {
        "about": about,
        "missing": dict(missing),
        "methods": {method: _summary(of_method) for method, of_method in by_method.items()},
        "claims": [asdict(one) for one in claims(by_method)],
    }


def _summary(units: Sequence[Numbers]) -> Numbers:
    first = min(units, key=lambda one: one["seed"])
    return {
        "seeds": len(units),
        "overlap": {
            sums: {
                line: asdict(over_seeds([end(one, sums, line) for one in units], PERCENT))
                for line in ("lists", "random_mean", "rarest")
            }
            for sums in SUMS
        },
        "k": min(len(one["overlap"]["raw"]["lists"]) for one in units),
        "curve": {line: first["overlap"]["raw"][line] for line in ("lists", "random_mean", "rarest")},
        "top": first["top"]["raw"],
        "shared": first["shared"]["raw"],
        "n_texts": first["n_texts"],
    }


def end(unit: Numbers, sums: str, line: str) -> float:
    """The percentage at the end of a curve; nan where there is no curve."""
    curve = unit["overlap"][sums][line]
    return 100 * float(curve[-1]) if curve else float("nan")


def over_seeds(values: Sequence[float], within: Range | None = None) -> Interval:
    """The mean of one number a seed with its 95 % t-interval, without seeds where it is nan; within: see "
    "`t_interval`."""
    return t_interval([value for value in values if value == value], within)


def claims(by_method: Mapping[str, Sequence[Numbers]]) -> list[Claim]:
    """The paper: classes share fewer of the decoded words than of any other method's; in points of overlap at 50
    words.
    """
    tested = []
    ours = {one["seed"]: one for one in by_method.get(DECODED, ())}
    for method, units in by_method.items():
        seeds = [one for one in units if one["seed"] in ours]
        if method != DECODED and seeds:
            less = [end(one, "raw", "lists") - end(ours[one["seed"]], "raw", "lists") for one in seeds]
            if all(value != value for value in less):
                continue  # a method without any list shares nothing
            words = f"classes share fewer decoded words than words of {method}"
            tested.append(Claim(words, None, over_seeds(less), len(seeds), sum(seeds[0]["n_texts"].values())))
    if ours:
        over = [end(one, "raw", "random_mean") - end(one, "raw", "lists") for one in ours.values()]
        tested.append(
            Claim(
                "classes share fewer decoded words than random ones (not in the paper)",
                None,
                over_seeds(over),
                len(ours),
                sum(next(iter(ours.values()))["n_texts"].values()),
            )
        )
    return tested
