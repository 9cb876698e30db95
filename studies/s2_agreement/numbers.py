"""Correlations over seeds with intervals, and the paper's claims: who agrees most, who least, and that agreement is
strong everywhere.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from itertools import combinations
from typing import Literal

import numpy as np
from scipy.special import stdtrit

from pellucid.results.bootstrap import CORRELATION, inside
from pellucid.results.table import Interval
from studies.s2_deletion.methods import PAPER
from studies.shared.claims import Claim
from studies.shared.markdown import listed_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers

OVER: tuple[Literal["type", "token"], ...] = ("type", "token")
# Table 1: data set -> Pearson's correlation under two trainings.
TABLE_1: Mapping[str, Mapping[str, float]] = {
    "sst5": {"GS": 0.91, "GI": 0.91, "LRP": 0.89, "LAT": 0.85},
    "semeval": {"GS": 0.89, "GI": 0.88, "LRP": 0.83, "LAT": 0.81},
    "imdb": {"GS": 0.81, "GI": 0.82, "LRP": 0.81, "LAT": 0.79},
    "yelp5": {"GS": 0.83, "GI": 0.86, "LRP": 0.79, "LAT": 0.73},
}
SHORT, LONG = ("sst5", "semeval"), ("imdb", "yelp5")
STRONG = 0.5  # the paper has no number for a strong correlation; .5 is what is usually called large
ORDER = (("GS", "LRP"), ("GI", "LRP"), ("LRP", "LAT"), ("GS", "LAT"))  # the first is said to agree more

Pair = tuple[int, int]
Value = Mapping[Pair, Interval]  # two seeds -> a number with its interval over texts


def summarise(about: Numbers, records: Records) -> Numbers:
    """The numbers of result.json: agreement of seeds by data set, over types and tokens, and of data sets, with
    claims.
    """
    units = list(records["agreement"].values())
    pairs = [unit for unit in units if "lines" in unit]
    grids = sorted((unit for unit in units if "grid" in unit), key=lambda unit: unit["seed"])
    seeds = {
        task: {over: _methods(_values(pairs, task, over)) for over in OVER}
        for task in about["tasks"]
        if any(unit["task"] == task for unit in pairs)
    }
    return {
        "about": about,
        "seeds": seeds,
        "left_out": {task: [unit["left_out"] for unit in pairs if unit["task"] == task] for task in about["tasks"]},
        "corpora": _grid(grids),
        "claims": {
            **{f"seeds, {over}": _records(seed_claims(pairs, over, about)) for over in OVER},
            "corpora": _records(corpus_claims(grids)),
        },
        "missing": _missing(about, pairs, grids),
    }


def over_pairs(values: Value) -> Interval:
    """The mean over pairs of seeds, with an interval over seeds in which texts are nested.

    Pairs share seeds, so their spread is taken by the jackknife: the mean is taken without each seed in turn. The half
    width is sqrt((t s)^2 + h^2), with h the mean half width over texts. Of two seeds there is one pair, and texts alone
    vary.
    """
    seeds = sorted({seed for pair in values for seed in pair})
    without = [[one.mean for pair, one in values.items() if seed not in pair] for seed in seeds if len(seeds) > 2]
    of_texts = float(np.mean([(one.high - one.low) / 2 for one in values.values()]))
    return _nested(
        [one.mean for one in values.values()], _jackknife([float(np.mean(one)) for one in without]), of_texts
    )


def over_seeds(values: Sequence[Interval]) -> Interval:
    """The mean over seeds with an interval over seeds in which texts are nested; of one seed, texts alone vary."""
    means = [one.mean for one in values]
    spread = 0.0
    if len(means) > 1:
        spread = _quantile(len(means)) * float(np.std(means, ddof=1)) / float(np.sqrt(len(means)))
    return _nested(means, spread, float(np.mean([(one.high - one.low) / 2 for one in values])))


def seed_claims(pairs: Sequence[Numbers], over: str, about: Numbers) -> list[Claim]:
    """METHODS section 3, S2, of table 1, in hundredths of a correlation, positive where the paper says so."""
    tested = []
    for task, of_task in about["tasks"].items():
        values, paper = _values(pairs, task, over), TABLE_1[task]
        for more, less in ORDER:
            if more in values and less in values:
                words = f"{of_task['title']}: {more} agrees more across seeds than {less}"
                measured = _scaled(over_pairs(_differences(values[more], values[less])))
                points = round(100 * (paper[more] - paper[less]), 1)
                tested.append(Claim(words, points, measured, _n_seeds(values[more]), of_task.get("n_texts")))
    return [*tested, *_length_claim(pairs, over, about)]


def corpus_claims(grids: Sequence[Numbers]) -> list[Claim]:
    """Figure 3: all methods, attention too, agree strongly across data sets; hundredths above a strong correlation."""
    tested = []
    for name in PAPER:
        by_seed = [_mean_interval(list(unit["grid"][name].values())) for unit in grids if name in unit["grid"]]
        if by_seed:
            above = [_shifted(one, STRONG) for one in by_seed]
            words = f"{name}: words' scores correlate above {STRONG} across data sets, in the mean"
            tested.append(
                Claim(words, None, _scaled(over_seeds(above)), len(by_seed), beside=f"{_n_words(grids)} words")
            )
    return tested


def _n_words(grids: Sequence[Numbers]) -> str:
    """How many word forms all data sets have."""
    counts = [pair["n"] for of in grids[0]["grid"].values() for pair in of.values()]
    return f"{counts[0]:,}"


def _length_claim(pairs: Sequence[Numbers], over: str, about: Numbers) -> list[Claim]:
    """Section 4.2: longer texts suffer more from another seed; over the paper's four methods."""
    values = {task: _values(pairs, task, over) for task in about["tasks"]}
    short, long = ([values[task] for task in side if values.get(task)] for side in (SHORT, LONG))
    if not short or not long:
        return []
    common = sorted(set.intersection(*(set(of["GS"]) for of in [*short, *long])))
    if not common:
        return []
    difference = {
        pair: _minus(
            _mean_of([of[name][pair] for of in short for name in PAPER]),
            _mean_of([of[name][pair] for of in long for name in PAPER]),
        )
        for pair in common
    }
    sides = [np.mean([TABLE_1[task][name] for task in side for name in PAPER]) for side in (SHORT, LONG)]
    points = round(100 * float(sides[0] - sides[1]), 1)
    words = "short texts agree more across seeds than long ones"
    return [Claim(words, points, _scaled(over_pairs(difference)), _n_seeds(difference))]


def _values(pairs: Sequence[Numbers], task: str, over: str) -> dict[str, dict[Pair, Interval]]:
    """method -> two seeds -> the correlation."""
    values: dict[str, dict[Pair, Interval]] = {}
    for unit in pairs:
        if unit["task"] == task:
            one, other = unit["seeds"]
            for name, record in unit["lines"][over].items():
                values.setdefault(name, {})[one, other] = _interval(record)
    return values


def _methods(values: Mapping[str, Value]) -> Numbers:
    return {
        name: {
            "value": asdict(inside(over_pairs(of), CORRELATION)),
            "pairs": len(of),
            "by_pair": [one.mean for one in of.values()],
        }
        for name, of in values.items()
    }


def _grid(grids: Sequence[Numbers]) -> Numbers:
    """method -> a pair of data sets -> the correlation over seeds."""
    names = list(dict.fromkeys(name for unit in grids for name in unit["grid"]))
    return {
        name: {
            pair: {
                "value": asdict(
                    inside(over_seeds([_interval(unit["grid"][name][pair]) for unit in grids]), CORRELATION)
                ),
                "n": grids[0]["grid"][name][pair]["n"],
            }
            for pair in grids[0]["grid"][name]
        }
        for name in names
    }


def _missing(about: Numbers, pairs: Sequence[Numbers], grids: Sequence[Numbers]) -> list[str]:
    done = {(unit["task"], *unit["seeds"]) for unit in pairs}
    wanted = [(task, *pair) for task in about["tasks"] for pair in combinations(range(about["seeds"]), 2)]
    lacking = [
        f"{about['tasks'][task]['title']} ({listed_seeds((one, other))})"
        for task, one, other in wanted
        if (task, one, other) not in done
    ]
    rest = sorted(set(range(about["seeds"])) - {unit["seed"] for unit in grids})
    return [*lacking, *([f"data sets beside each other ({listed_seeds(rest)})"] if rest else [])]


def _records(listed: Sequence[Claim]) -> list[Numbers]:
    return [asdict(one) for one in listed]


def _interval(record: Numbers) -> Interval:
    return Interval(record["mean"], record["low"], record["high"])


def _differences(more: Value, less: Value) -> dict[Pair, Interval]:
    return {pair: _minus(more[pair], less[pair]) for pair in more if pair in less}


def _minus(more: Interval, less: Interval) -> Interval:
    """A difference, with half widths added as if the sides were independent; both are of the same texts, so it is too
    wide.
    """
    half = float(np.hypot((more.high - more.low) / 2, (less.high - less.low) / 2))
    mean = more.mean - less.mean
    return Interval(mean, mean - half, mean + half)


def _mean_of(intervals: Sequence[Interval]) -> Interval:
    return Interval(*(float(np.mean([getattr(one, end) for one in intervals])) for end in ("mean", "low", "high")))


def _mean_interval(records: Sequence[Numbers]) -> Interval:
    return _mean_of([_interval(one) for one in records])


def _shifted(one: Interval, by: float) -> Interval:
    return Interval(one.mean - by, one.low - by, one.high - by)


def _scaled(one: Interval) -> Interval:
    return Interval(100 * one.mean, 100 * one.low, 100 * one.high)


def _n_seeds(values: Value) -> int:
    return len({seed for pair in values for seed in pair})


def _jackknife(without: Sequence[float]) -> float:
    """Half width of the interval of a mean over pairs of seeds, from the means without each seed; 0 of fewer than three
    seeds.
    """
    n = len(without)
    if n < 3:
        return 0.0
    deviations = np.asarray(without) - np.mean(without)
    return _quantile(n) * float(np.sqrt((n - 1) / n * (deviations @ deviations)))


def _quantile(n: int) -> float:
    return float(stdtrit(n - 1, 0.975))


def _nested(means: Sequence[float], of_seeds: float, of_texts: float) -> Interval:
    mean, half = float(np.mean(means)), float(np.hypot(of_seeds, of_texts))
    return Interval(mean, mean - half, mean + half)
