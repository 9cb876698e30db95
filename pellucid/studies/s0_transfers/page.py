"""The transfers of T4 as numbers with intervals, and as a page with the paper's beside."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pellucid.core.results.table import Interval
from pellucid.evaluation.protocols.transfers import WAYS, mean_over_runs
from pellucid.evaluation.shared.summary import paired_difference_over_runs
from pellucid.studies.shared.claims import ENOUGH_SEEDS, Claim
from pellucid.studies.shared.computing_environment import machines, where_computed
from pellucid.studies.shared.trainings import seeds_listed

Numbers = dict[str, Any]
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
# As average_gradient, but blind to the label of the text that it cuts.
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
ORDER = (("S-F", "S-S"), ("S-S", "F-S"))  # of table 4's ways, in all rows of the paper on both tasks


def summed_up(found: Mapping[str, Numbers], rows: Mapping[str, int], n_seeds: int) -> Numbers:
    """The numbers of all finished units, in points: row -> way -> mean with its interval, and the claims.

    rows: how many seeds each is to have.
    """
    full = _right(found, "model-plain", n_seeds, "right")
    by_row = {name: seeds for name in rows if (seeds := _seeds(found, name, n_seeds))}
    right = {
        name: {way: np.array([found[f"{name}-{seed}"][way] for seed in seeds]) for way in WAYS[1:]}
        for name, seeds in by_row.items()
    }
    return {
        "texts": full.shape[1],
        "F-F": _points(mean_over_runs(full)),
        "models": {
            kind: _points(mean_over_runs(_right(found, f"model-{kind}", n_seeds, "right")))
            for kind in ("plain", "span", "rationale")
            if f"model-{kind}-0" in found
        },
        "rows": {
            name: {
                "seeds": len(seeds),
                "coverage": float(np.mean([found[f"{name}-{seed}"]["coverage"] for seed in seeds])),
                "words": float(np.mean([found[f"{name}-{seed}"]["words"] for seed in seeds])),
                "leak": found[f"{name}-{seeds[0]}"]["leak"],
                **{way: _points(mean_over_runs(right[name][way])) for way in WAYS[1:]},
            }
            for name, seeds in by_row.items()
        },
        "claims": [
            _claim(right, by_row, rival, way)
            for rival in RIVALS
            if {OURS, rival} <= right.keys()
            for way in WAYS[1:]
        ],
        "order": [_order(right[name], name, *ways) for name in PAPER if name in right for ways in ORDER],
        "label_read": _label_read(right, by_row),
        "missing": {name: missing for name in rows if (missing := _missing(found, name, rows[name]))},
        "machines": machines(list(found.values())),
        "seconds": sum(one["seconds"] for one in found.values()),
    }


def _seeds(found: Mapping[str, Numbers], name: str, n_seeds: int) -> list[int]:
    return [seed for seed in range(n_seeds) if f"{name}-{seed}" in found]


def _right(found: Mapping[str, Numbers], name: str, n_seeds: int, way: str) -> np.ndarray:
    return np.array([found[f"{name}-{seed}"][way] for seed in _seeds(found, name, n_seeds)])


def _points(interval: Interval) -> list[float]:
    return [round(100 * value, 2) for value in asdict(interval).values()]


def _missing(found: Mapping[str, Numbers], name: str, n_seeds: int) -> list[int]:
    return [seed for seed in range(n_seeds) if f"{name}-{seed}" not in found]


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
        "verdict": Claim(words, None, over, len(more)).verdict,
    }


def _label_read(
    right: Mapping[str, Mapping[str, np.ndarray]], by_row: Mapping[str, Sequence[int]]
) -> list[Numbers]:
    """What it gives average_gradient that it reads the label of the text that it cuts, by way."""
    if not {BLIND, "average_gradient"} <= right.keys():
        return []
    pairs = {way: _paired(right, by_row, ("average_gradient", BLIND), way) for way in WAYS[1:]}
    return [{"way": way, **_judged(way, *pair)} for way, pair in pairs.items()]


def as_page(numbers: Numbers, size: str) -> str:
    """The numbers as a Markdown page."""
    about, rows = numbers["about"], numbers["rows"]
    main = {name: row for name, row in rows.items() if name in (OURS, *RIVALS)}
    modes = {name: row for name, row in rows.items() if name not in main}
    snli = about["data"] == "snli"
    paper, task = (PAPER_SNLI, "SNLI") if snli else (PAPER, "SST-5")
    return (
        f"# Transfers: can the spans stand for the text? {about['data']}\n\n"
        f"{about['encoder']}, {about['epochs']} epochs, {about['seeds']} seeds, {numbers['texts']} test texts; the epoch is "
        f"chosen on dev. Made by\n`python -m pellucid.studies.s0_transfers --data FOLDER --work WORK --size {size} "
        f"--out studies/s0_transfers{'_snli' if snli else ''}`.\n\n"
        "F: full texts, S: spans; the first letter is what a plain model was trained on, the second what it was tested on.\n"
        "Points of accuracy with 95 % t-intervals over seeds in which texts are nested (with one seed: over texts alone);\n"
        f"beside them, in brackets, table 4 of the paper (RoBERTa, {task}). Trained and tested on full texts (F-F): "
        f"**{_cell(numbers['F-F'])}**.\nThe models themselves, on full texts: {_models(numbers['models'])}.\n"
        "Labels are in alphabetical order; the head's first weights go by it, so these are other trainings than table 1's.\n\n"
        f"{_table(main, paper)}\n\n"
        "All rows but `rationale` and `random_span` take spans as long as `span_attention`'s, so that nobody gains by reading\n"
        "more. Coverage is the share of a text's words. Cut tells: how far a classifier that sees only where and how long the\n"
        "spans are is above always saying the most frequent label, in points; one that reads labels can write them there; with\n"
        "the first seed. `average_gradient` does read the label of the text that it cuts, as in the paper, the test text's too;\n"
        f"`{BLIND}` reads the class that is predicted. {where_computed(numbers['machines'])}\n\n"
        f"{_unfinished(numbers['missing'])}"
        f"## Is span attention better?\n\n{_claims(numbers['claims'])}\n\n"
        "Differences in points, on the same texts and seeds. The paper has no random spans and no gradients of the predicted\n"
        f"class; there *reproduced* means that span attention is better. Below {ENOUGH_SEEDS} seeds there is no verdict.\n\n"
        f"## Is S-F above S-S above F-S?\n\n{_orders(numbers['order'])}\n\nSo it is in every row of the paper's table, on both tasks.\n\n"
        f"## What the label gives\n\n{_labels(numbers['label_read'])}\n\n"
        f"## Other ways to cut by the same scores, one seed\n\n{_table(modes, {})}\n\n"
        "`literal` is the paper's rule, which always takes one word. One seed each: they describe these models, and nothing\n"
        "follows from a difference. See [corrections](../../docs/papers/corrections.md#a010).\n"
    )


def _unfinished(missing: Mapping[str, Sequence[int]]) -> str:
    if not missing:
        return ""
    listed = "; ".join(f"{name} ({seeds_listed(seeds)})" for name, seeds in missing.items())
    return f"**Not run yet, so not judged:** {listed}.\n\n"


def _models(models: Mapping[str, Sequence[float]]) -> str:
    return ", ".join(f"{kind} {_cell(found)}" for kind, found in models.items())


def _table(rows: Mapping[str, Numbers], paper: Mapping[str, Sequence[float]]) -> str:
    lines = [
        f"| {name} | {row['seeds']} | {row['words']:.1f} | {row['coverage']:.0%} | "
        + " | ".join(_cell(row[way]) + _beside(paper, name, number) for number, way in enumerate(WAYS[1:]))
        + f" | {_leak(row['leak'])} |"
        for name, row in rows.items()
    ]
    head = "| spans by | seeds | words | coverage | F-S | S-F | S-S | cut tells |\n|---|---|---|---|---|---|---|---|"
    return "\n".join([head, *lines])


def _cell(found: Sequence[float]) -> str:
    mean, low, high = found
    return f"{mean:.1f} [{low:.1f}, {high:.1f}]"


def _beside(paper: Mapping[str, Sequence[float]], name: str, number: int) -> str:
    return f" ({paper[name][number]})" if name in paper else ""


def _leak(leak: Numbers) -> str:
    over = [100 * value for value in leak["over_majority"].values()]
    return _cell(over) + (" leaks" if leak["leaks"] else "")


def _claims(claims: Sequence[Numbers]) -> str:
    return _listed("way | than", [f"{one['way']} | {one['over']}" for one in claims], claims)


def _orders(order: Sequence[Numbers]) -> str:
    return _listed(
        "spans by | order", [f"{one['row']} | {one['more']} > {one['less']}" for one in order], order
    )


def _labels(label_read: Sequence[Numbers]) -> str:
    if not label_read:
        return "Not run yet."
    first = [f"{one['way']} | average_gradient − {BLIND}" for one in label_read]
    return _listed("way | difference of", first, label_read)


def _listed(head: str, first: Sequence[str], judged: Sequence[Numbers]) -> str:
    lines = [
        f"| {words} | {one['seeds']} | {_cell(one['difference'])} | {one['verdict']} |"
        for words, one in zip(first, judged, strict=True)
    ]
    return "\n".join([f"| {head} | seeds | difference | verdict |", "|---|---|---|---|---|", *lines])
