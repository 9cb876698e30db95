"""The transfers of T4 as numbers with intervals, and as a page with the paper's beside."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pellucid.core.table import Interval
from pellucid.evaluation.summary import paired_difference_over_runs
from pellucid.evaluation.transfers import WAYS, mean_over_runs
from pellucid.studies.claims import Claim

Numbers = dict[str, Any]
# Sun et al. (2020), table 4, SST-5 in points: F-S, S-F, S-S
PAPER = {
    "average_gradient": (34.1, 45.6, 36.9),
    "average_attention": (32.5, 40.6, 35.8),
    "rationale": (35.2, 49.9, 36.2),
    "span_attention": (38.4, 54.9, 42.9),
}
RIVALS = ("average_gradient", "average_attention", "rationale", "random_span", "random_span_of_length")
OURS = "span_attention"


def summed_up(found: Mapping[str, Numbers], rows: Sequence[str], n_seeds: int) -> Numbers:
    """The numbers of all finished units, in points: row -> way -> mean with its interval, and the claims."""
    full = _right(found, "model-plain", n_seeds, "right")
    by_row = {name: _seeds(found, name, n_seeds) for name in rows}
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
                "leak": found[f"{name}-0"]["leak"],
                **{way: _points(mean_over_runs(right[name][way])) for way in WAYS[1:]},
            }
            for name, seeds in by_row.items()
        },
        "claims": [_claim(right, rival, way) for rival in RIVALS if rival in right for way in WAYS[1:]],
        "seconds": sum(one["seconds"] for one in found.values()),
    }


def _seeds(found: Mapping[str, Numbers], name: str, n_seeds: int) -> list[int]:
    return [seed for seed in range(n_seeds) if f"{name}-{seed}" in found]


def _right(found: Mapping[str, Numbers], name: str, n_seeds: int, way: str) -> np.ndarray:
    return np.array([found[f"{name}-{seed}"][way] for seed in _seeds(found, name, n_seeds)])


def _points(interval: Interval) -> list[float]:
    return [round(100 * value, 2) for value in asdict(interval).values()]


def _claim(right: Mapping[str, Mapping[str, np.ndarray]], rival: str, way: str) -> Numbers:
    """Whether span_attention is better than a rival in one way, on the same seeds and texts."""
    ours, theirs = (100.0 * right[name][way] for name in (OURS, rival))
    over = paired_difference_over_runs(ours, theirs)
    return {
        "way": way,
        "over": rival,
        "difference": [round(value, 2) for value in asdict(over).values()],
        "verdict": Claim(way, None, over).verdict,
    }


def as_page(numbers: Numbers, size: str) -> str:
    """The numbers as a Markdown page."""
    about, rows = numbers["about"], numbers["rows"]
    main = {name: row for name, row in rows.items() if "-" not in name}
    modes = {name: row for name, row in rows.items() if "-" in name}
    return (
        f"# Transfers: can the spans stand for the text? {about['data']}\n\n"
        f"{about['encoder']}, {about['epochs']} epochs, {about['seeds']} seeds, {numbers['texts']} test texts; the epoch is "
        f"chosen on dev. Made by\n`python -m pellucid.studies.s0_transfers --data FOLDER --work WORK --size {size} "
        "--out studies/s0_transfers`.\n\n"
        "F: full texts, S: spans; the first letter is what a plain model was trained on, the second what it was tested on.\n"
        "Points of accuracy with 95 % intervals over texts and seeds; beside them, in brackets, table 4 of the paper\n"
        f"(RoBERTa, SST-5). Trained and tested on full texts (F-F): **{_cell(numbers['F-F'])}**.\n"
        f"The models themselves, on full texts: {_models(numbers['models'])}.\n\n"
        f"{_table(main)}\n\n"
        "`average_gradient`, `average_attention` and `random_span_of_length` take spans as long as `span_attention`'s, so that\n"
        "nobody gains by reading more. Coverage is the share of a text's words. Cut tells: how far a classifier that sees only\n"
        "where and how long the spans are is above always saying the most frequent label, in points; one that reads labels\n"
        "can write them there; with the first seed. `average_gradient` does read the label of the text that it cuts, as in the\n"
        "paper.\n\n"
        f"## Is span attention better?\n\n{_claims(numbers['claims'])}\n\n"
        "Differences in points, on the same texts and seeds. The paper has no random spans; there *reproduced* means that span\n"
        "attention is better.\n\n"
        f"## Other ways to cut by the same scores, one seed\n\n{_table(modes)}\n\n"
        "`literal` is the paper's rule, which always takes one word; `predicted` is the gradient of the predicted class at the\n"
        "lengths of `span_attention`. See [corrections](../../docs/papers/corrections.md#a010).\n"
    )


def _models(models: Mapping[str, Sequence[float]]) -> str:
    return ", ".join(f"{kind} {_cell(found)}" for kind, found in models.items())


def _table(rows: Mapping[str, Numbers]) -> str:
    lines = [
        f"| {name} | {row['seeds']} | {row['words']:.1f} | {row['coverage']:.0%} | "
        + " | ".join(_cell(row[way]) + _beside(name, number) for number, way in enumerate(WAYS[1:]))
        + f" | {_leak(row['leak'])} |"
        for name, row in rows.items()
    ]
    head = "| spans by | seeds | words | coverage | F-S | S-F | S-S | cut tells |\n|---|---|---|---|---|---|---|---|"
    return "\n".join([head, *lines])


def _cell(found: Sequence[float]) -> str:
    mean, low, high = found
    return f"{mean:.1f} [{low:.1f}, {high:.1f}]"


def _beside(name: str, number: int) -> str:
    return f" ({PAPER[name][number]})" if name in PAPER else ""


def _leak(leak: Numbers) -> str:
    over = [100 * value for value in leak["over_majority"].values()]
    return _cell(over) + (" leaks" if leak["leaks"] else "")


def _claims(claims: Sequence[Numbers]) -> str:
    lines = [
        f"| {one['way']} | {one['over']} | {_cell(one['difference'])} | {one['verdict']} |" for one in claims
    ]
    head = "| way | than | difference | verdict |\n|---|---|---|---|"
    return "\n".join([head, *lines])
