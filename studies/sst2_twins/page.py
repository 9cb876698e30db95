"""The numbers of `sst2_twins` over texts and training seeds, and their page."""

from collections.abc import Sequence

import numpy as np

from pellucid.results.bootstrap import PERCENT, mean_over_runs, paired_difference_over_runs
from pellucid.results.table import Interval
from studies.shared.claims import ENOUGH_SEEDS, no_verdict, weighed
from studies.shared.computing_environment import count_machines, where_computed
from studies.shared.markdown import models_with_seeds, not_run_yet
from studies.shared.span_sharpness import spans_beside
from studies.shared.trainings import right_answers
from studies.shared.units import Numbers
from studies.sst2_twins.trials import MODELS

# Paper's table 1 in points of accuracy: (base, self-explaining), RoBERTa-base.
PAPER = {"SST-5": (56.4, 57.8), "SNLI": (90.7, 91.7)}
NO_WORSE, NO_WORSE_BOUND = -0.5, -1.5  # points: what we ask of the span model


def summarise(runs: Sequence[Numbers]) -> Numbers:
    """Each model's mean accuracy and its paired difference from plain, in points with intervals."""
    by_model = {name: [run for run in runs if run["model"] == name] for name in MODELS}
    models = {name: _numbers(of, by_model["plain"]) for name, of in by_model.items() if of}
    mean, low, _ = models["span"]["over_plain"]
    is_no_worse = mean >= NO_WORSE and low >= NO_WORSE_BOUND
    return {
        "texts": len(runs[0]["right"]),
        "models": models,
        "span_is_no_worse": is_no_worse,
        "machines": count_machines(runs),
    }


def _numbers(of: Sequence[Numbers], plain: Sequence[Numbers]) -> Numbers:
    seeds = {run["seed"] for run in of}
    right, twins = right_answers(of), right_answers([run for run in plain if run["seed"] in seeds])
    over = paired_difference_over_runs(right, twins)
    best = [max(epoch["dev_accuracy"] for epoch in run["history"]) for run in of]
    return {
        "seeds": sorted(seeds),
        "dev": round(100 * float(np.mean(best)), 2),
        "test": _rounded(mean_over_runs(right, PERCENT)),
        "test_by_seed": [round(float(row.mean()), 2) for row in right],
        "over_plain": _rounded(over),
        "spans": [run["sharpness"] for run in of] if of[0].get("sharpness") else [],
    }


def _rounded(interval: Interval) -> list[float]:
    return [round(value, 2) for value in (interval.mean, interval.low, interval.high)]


def as_page(numbers: Numbers) -> str:
    """The report as a Markdown page."""
    rows = "\n".join(_row(name, of) for name, of in numbers["models"].items())
    paper = "; ".join(f"{task} {base} → {ours}" for task, (base, ours) in PAPER.items())
    return (
        f"# {numbers['title']}: span attention against its plain twin\n\n"
        f"all-MiniLM-L6-v2, two epochs of batches of 32, the best on dev kept; {numbers['texts']} test texts.\n\n"
        "| model | seeds | dev | test [95 %] | by seed | minus plain, same seeds [95 %] | its spans "
        "|\n|---|---|---|---|---|---|---|\n"
        f"{rows}\n\n"
        "Accuracy in points; dev is that of the best epoch. Intervals are t-intervals over seeds in which texts are "
        f"nested;\ndifferences are paired. Below {ENOUGH_SEEDS} seeds nothing follows from them. "
        f"{where_computed(numbers['machines'])}\n\n`span` starts with small scores and a light penalty, and its "
        f"weights stay spread. The weights of the others gather\non one or two spans of a text: `entropy` has the "
        f"entropy as penalty, with weight 0.1; `sharp` starts with larger scores (0.15)\nand has the paper's penalty, "
        f"concentration, with weight 1.\n\n{not_run_yet(models_with_seeds(numbers.get('unfinished', {})))}"
        f"Of `span` we ask a mean difference of at least {NO_WORSE} and a lower bound of at least {NO_WORSE_BOUND} "
        f"points: {weighed(_verdict(numbers), spans_beside(numbers['models']['span']['spans']))}, "
        f"{numbers['texts']:,} texts.\nThe paper (RoBERTa-base, other tasks): {paper}.\n"
    )


def _verdict(numbers: Numbers) -> str:
    seeds = len(numbers["models"]["span"]["seeds"])
    return no_verdict(seeds) or ("held" if numbers["span_is_no_worse"] else "not held")


def _row(name: str, of: Numbers) -> str:
    test, over = ("{:.2f} [{:.2f}, {:.2f}]".format(*of[part]) for part in ("test", "over_plain"))
    seeds = ", ".join(f"{value:.2f}" for value in of["test_by_seed"])
    return (
        f"| {name} | {len(of['seeds'])} | {of['dev']:.2f} | {test} | {seeds} | {'–' if name == 'plain' else over} | "
        f"{spans_beside(of['spans']) if of['spans'] else '–'} |"
    )
