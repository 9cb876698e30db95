"""The tables of docs/which-explanation.md, which join the corpora of the study: leads, checks, truth, and advice on
another seed.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pellucid.results.table import CHANCE
from studies.quoted_blocks.study_results import result_of
from studies.shared.markdown import markdown_table
from studies.shared.units import Numbers
from studies.which_explanation.corpora import CORPORA, PLANTED
from studies.which_explanation.page import truth_table

STUDY = "which_explanation"
JUDGES = ("comprehensiveness", "sufficiency", "decision_flip", "sensitivity_n", "auprc", "reason_found")


def which_explanation_claims(root: Path) -> str:
    """Methods down, corpora across: under how many metrics a method is ahead of and behind random scores."""
    results = _results(root)
    if not results:
        return "Not run yet."
    settings = {
        name: one for numbers in results.values() for name, one in numbers["settings"].items() if one["metrics"]
    }
    methods = list(dict.fromkeys(method for one in settings.values() for method in _methods(one)))
    rows = [[method, *(_standing(one, method) for one in settings.values())] for method in methods]
    return f"{_missing(results)}{markdown_table(['method', *settings], rows)}"


def which_explanation_leads_claims(root: Path) -> str:
    """Methods down, some metrics across: the lead over random scores, the mean of all corpora and its range."""
    settings = [one for numbers in _results(root).values() for one in numbers["settings"].values() if one["metrics"]]
    if not settings:
        return "Not run yet."
    methods = list(dict.fromkeys(method for one in settings for method in _methods(one)))
    metrics = [name for name in JUDGES if any(name in one["metrics"] for one in settings)]
    rows = [[method, *(_range(settings, metric, method) for metric in metrics)] for method in methods]
    return markdown_table(["method", *metrics], rows)


def which_explanation_checks_claims(root: Path) -> str:
    """Methods down, checks with a pass across: how many comparisons a method passes and fails."""
    settings = [one for numbers in _results(root).values() for one in numbers["settings"].values() if one["checks"]]
    counts: dict[str, dict[str, list[int]]] = {}
    for one in settings:
        for check, of_methods in one["checks"].items():
            for method, by_measure in of_methods.items():
                for lines in by_measure.values():
                    if lines["passed"] + lines["failed"]:
                        count = counts.setdefault(check, {}).setdefault(method, [0, 0])
                        count[0] += lines["passed"]
                        count[1] += lines["failed"]
    if not counts:
        return "Not run yet."
    methods = list(dict.fromkeys(method for of in counts.values() for method in of))
    rows = [[method, *(_passes(of.get(method)) for of in counts.values())] for method in methods]
    return markdown_table(["method", *counts], rows)


def which_explanation_truth_claims(root: Path) -> str:
    """Which metrics rank methods as the planted truth does."""
    numbers = result_of(root, f"{STUDY}/{PLANTED}")
    if numbers is None or not numbers["truth"]:
        return "Not run yet."
    return truth_table(numbers)


def which_explanation_advice_claims(root: Path) -> str:
    """Whether the card's advice on one seed holds on another, corpus by corpus, and in all."""
    results = _results(root)
    if not results:
        return "Not run yet."
    rows = [[numbers["about"]["title"], *_holding(numbers["advice"]["rows"])] for numbers in results.values()]
    every = [row for numbers in results.values() for row in numbers["advice"]["rows"]]
    head = ["corpus", "pairs of seeds with advice", "recommended again", "faithful", "unclear", "avoid"]
    return markdown_table(head, [*rows, ["**all**", *_holding(every)]])


def _results(root: Path) -> dict[str, Numbers]:
    read_in = {name: result_of(root, f"{STUDY}/{name}") for name in CORPORA}
    return {name: numbers for name, numbers in read_in.items() if numbers is not None}


def _missing(results: Mapping[str, Numbers]) -> str:
    rest = [CORPORA[name].title for name in CORPORA if name not in results]
    return f"**Not run yet:** {', '.join(rest)}.\n\n" if rest else ""


def _methods(setting: Numbers) -> list[str]:
    return [name for name in next(iter(setting["metrics"].values())) if name != CHANCE]


def _standing(setting: Numbers, method: str) -> str:
    """How many intervals of leads lie above and below 0; of few seeds they are over texts and a wide t."""
    leads = [of[method]["lead"] for of in setting["metrics"].values() if method in of]
    ahead = sum(one["low"] > 0 for one in leads)
    behind = sum(one["high"] < 0 for one in leads)
    return f"{ahead} ahead, {behind} behind, of {len(leads)}"


def _range(settings: Sequence[Numbers], metric: str, method: str) -> str:
    leads = [one["metrics"][metric][method]["lead"]["mean"] for one in settings if metric in one["metrics"]]
    known = [lead for lead in leads if lead == lead]
    if not known:
        return "–"
    return f"{np.mean(known):+.2f} ({min(known):+.2f} to {max(known):+.2f})"


def _passes(count: Sequence[int] | None) -> str:
    return "–" if count is None else f"{count[0]} pass, {count[1]} fail"


def _holding(rows: Sequence[Numbers]) -> list[object]:
    advised = [row for row in rows if row["method"]]
    outcomes = ("recommended", "faithful", "unclear", "avoid")
    return [
        f"{len(advised)} of {len(rows)}",
        *(sum(row["outcome"] == one for row in advised) for one in outcomes),
    ]
