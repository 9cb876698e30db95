"""The transfers of T4 as numbers with intervals and verdicts."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.evidence.transfers import WAYS
from pellucid.results.bootstrap import SHARE, mean_over_runs, paired_difference_over_runs
from pellucid.results.table import Interval
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.span_sharpness import spans_beside
from studies.shared.units import Numbers

# Sun et al. (2020), table 4, SST-5 in points: F-S, S-F, S-S
PAPER = {
    "average_gradient": (34.1, 45.6, 36.9),
    "average_attention": (32.5, 40.6, 35.8),
    "rationale": (35.2, 49.9, 36.2),
    "span_attention": (38.4, 54.9, 42.9),
}
PAPER_SNLI = {
    "average_gradient": (70.7, 74.5, 73.1),
    "average_attention": (64.5, 72.5, 70.4),
    "rationale": (71.0, 78.5, 71.9),
    "span_attention": (74.5, 88.5, 79.2),
}
# Like average_gradient, but it does not see the label of the text that it cuts.
BLIND = "average_gradient-predicted"
RIVALS = (
    "average_gradient",
    BLIND,
    "average_attention",
    "rationale",
    "random_span",
    "random_span_of_length",
)
OURS = "span_attention"
# Digest of texts -> seeds whose units were made before spans were counted, and whose spans were then seen to have
# collapsed, when s0_evidence looked at the same model.
SEEN_COLLAPSED = {"67d5986fafbf704c": (0,)}
ORDER = (("S-F", "S-S"), ("S-S", "F-S"))  # of table 4's ways: so it is in all rows of the paper on both tasks


def summarise(units: Mapping[str, Numbers], rows: Mapping[str, int], n_seeds: int, texts: str = "") -> Numbers:
    """The numbers of all finished units, in points: row -> way -> mean with its interval, and the claims.

    units: name -> numbers. rows: how many seeds each is to have. n_seeds: of the models. texts: their digest.
    """
    full = _right(units, "model-plain", n_seeds, "right")
    by_row = {name: seeds for name in rows if (seeds := _seeds(units, name, n_seeds))}
    right = {
        name: {way: np.array([units[f"{name}-{seed}"][way] for seed in seeds]) for way in WAYS[1:]}
        for name, seeds in by_row.items()
    }
    spans = _spans_beside(units, n_seeds, texts)
    return {
        "texts": full.shape[1],
        "spans": spans,
        "F-F": _points(mean_over_runs(full, SHARE)),
        "models": {
            kind: _points(mean_over_runs(_right(units, f"model-{kind}", n_seeds, "right"), SHARE))
            for kind in ("plain", "span", "rationale")
            if f"model-{kind}-0" in units
        },
        "rows": {
            name: {
                "seeds": len(seeds),
                "coverage": float(np.mean([units[f"{name}-{seed}"]["coverage"] for seed in seeds])),
                "words": float(np.mean([units[f"{name}-{seed}"]["words"] for seed in seeds])),
                "leak": _leak([units[f"{name}-{seed}"]["leak"] for seed in seeds]),
                **{way: _points(mean_over_runs(right[name][way], SHARE)) for way in WAYS[1:]},
            }
            for name, seeds in by_row.items()
        },
        "claims": [
            _claim(right, by_row, rival, way) | {"beside": spans}
            for rival in RIVALS
            if {OURS, rival} <= right.keys()
            for way in WAYS[1:]
        ],
        "order": [
            _order(right[name], name, *ways) | {"beside": spans if name == OURS else ""}
            for name in PAPER
            if name in right
            for ways in ORDER
        ],
        "label_read": _label_read(right, by_row),
        "missing": {name: missing for name in rows if (missing := _missing(units, name, rows[name]))},
        "machines": count_machines(list(units.values())),
        "seconds": sum(one["seconds"] for one in units.values()),
    }


def _spans_beside(units: Mapping[str, Numbers], n_seeds: int, texts: str) -> str:
    """What the spans of the self-explaining models are like, beside every verdict on them."""
    by_seed = [units.get(f"model-span-{seed}", {}).get("sharpness") for seed in range(n_seeds)]
    seen = [
        f"seed {seed} was seen later to have collapsed" for seed in SEEN_COLLAPSED.get(texts, ()) if not by_seed[seed]
    ]
    return "; ".join([spans_beside(by_seed), *seen])


def _seeds(units: Mapping[str, Numbers], name: str, n_seeds: int) -> list[int]:
    return [seed for seed in range(n_seeds) if f"{name}-{seed}" in units]


def _right(units: Mapping[str, Numbers], name: str, n_seeds: int, way: str) -> np.ndarray:
    return np.array([units[f"{name}-{seed}"][way] for seed in _seeds(units, name, n_seeds)])


def _points(interval: Interval) -> list[float]:
    return [round(100 * value, 2) for value in asdict(interval).values()]


def _missing(units: Mapping[str, Numbers], name: str, n_seeds: int) -> list[int]:
    return [seed for seed in range(n_seeds) if f"{name}-{seed}" not in units]


def _paired(
    right: Mapping[str, Mapping[str, np.ndarray]],
    by_row: Mapping[str, Sequence[int]],
    names: Sequence[str],
    way: str,
) -> list[np.ndarray]:
    """[seed text] of each row, in points, over the seeds that all have."""
    seeds = sorted(set.intersection(*(set(by_row[name]) for name in names)))
    return [100.0 * right[name][way][[by_row[name].index(seed) for seed in seeds]] for name in names]


def _claim(
    right: Mapping[str, Mapping[str, np.ndarray]], by_row: Mapping[str, Sequence[int]], rival: str, way: str
) -> Numbers:
    """Whether span_attention is better than a rival in one way, on the same seeds and texts."""
    ours, theirs = _paired(right, by_row, (OURS, rival), way)
    return {"way": way, "over": rival, **_judged(way, ours, theirs)}


def _order(right: Mapping[str, np.ndarray], name: str, more: str, less: str) -> Numbers:
    """Whether one way gives more than another for the same row."""
    return {
        "row": name,
        "more": more,
        "less": less,
        **_judged(name, 100.0 * right[more], 100.0 * right[less]),
    }


def _judged(words: str, more: np.ndarray, less: np.ndarray) -> Numbers:
    over = paired_difference_over_runs(more, less)
    return {
        "difference": [round(value, 2) for value in asdict(over).values()],
        "seeds": len(more),
        "texts": more.shape[1],
        "verdict": Claim(words, None, over, len(more)).verdict,
    }


def _leak(by_seed: Sequence[Numbers]) -> Numbers:
    """In points: how far a classifier of the cut alone is above the most frequent label, and how frequent that is; and
    with how many seeds the cut tells the label.
    """
    over = [round(100 * one["over_majority"]["mean"], 2) for one in by_seed]
    majority = round(100 * float(np.mean([one["majority"]["mean"] for one in by_seed])), 2)
    leaks = sum(one["leaks"] for one in by_seed)
    return {"mean": round(float(np.mean(over)), 2), "by_seed": over, "majority": majority, "leaks": leaks}


def _label_read(right: Mapping[str, Mapping[str, np.ndarray]], by_row: Mapping[str, Sequence[int]]) -> list[Numbers]:
    """By way: how much average_gradient gains because it reads the label of the text that it cuts."""
    if not {BLIND, "average_gradient"} <= right.keys():
        return []
    pairs = {way: _paired(right, by_row, ("average_gradient", BLIND), way) for way in WAYS[1:]}
    return [{"way": way, **_judged(way, *pair)} for way, pair in pairs.items()]
