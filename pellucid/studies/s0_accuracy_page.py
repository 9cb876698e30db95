"""What `s0_accuracy` found, summed up over texts and training seeds: numbers, claims, a page and a picture."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from pellucid.core.table import Interval
from pellucid.evaluation.summary import paired_difference_over_runs
from pellucid.studies.claims import Claim, claims_table
from pellucid.studies.interval_plot import Panel, interval_plot
from pellucid.studies.trainings import over_seeds, right_answers

Numbers = dict[str, Any]

NO_WORSE = -0.5  # points: what the self-explaining model may lose to its plain twin
TITLES = {"plain": "plain (first token)", "mean": "mean of all pieces", "average": "AvgSelf-Explaining"}
TASKS = {"sst5": "SST-5", "snli": "SNLI", "pocket": "pocket"}
# Table 1 and figure 2, RoBERTa-base, in points of accuracy: plain, average, lambda 0, best lambda, largest lambda.
PAPER = {"sst5": (56.4, 56.2, 57.0, 57.8, 56.4), "snli": (90.7, 90.8, 91.4, 91.7, 90.3)}


def summed_up(runs: Sequence[Numbers]) -> Numbers:
    """Each model's accuracy and its paired difference from plain, in points with 95 % intervals."""
    by_model: dict[str, list[Numbers]] = {}
    for run in runs:
        by_model.setdefault(run["model"], []).append(run)
    models = {name: _numbers(found, by_model["plain"]) for name, found in by_model.items()}
    chosen = max(
        (name for name in models if _lambda(name) > 0), key=lambda name: models[name]["dev"], default=None
    )
    return {
        "texts": len(runs[0]["right"]),
        "models": models,
        "chosen": chosen,
        "differences": _differences(by_model, chosen or ""),
    }


def _lambda(name: str) -> float:
    return float(name.removeprefix("lambda-")) if name.startswith("lambda-") else -1.0


def _numbers(found: Sequence[Numbers], plain: Sequence[Numbers]) -> Numbers:
    right = right_answers(found)
    dev = [100 * max(epoch["dev_accuracy"] for epoch in run["history"]) for run in found]
    sharp = [run["sharpness"] for run in found if run["sharpness"]]
    return {
        "seeds": len(found),
        "dev": float(np.mean(dev)),
        "test": asdict(paired_difference_over_runs(right, np.zeros_like(right))),
        "test_by_seed": right.mean(1).tolist(),
        "over_plain": asdict(paired_difference_over_runs(*over_seeds(found, plain))),
        "effective_spans": [one["effective_spans"] for one in sharp],
        "sharpness": {name: float(np.mean([one[name] for one in sharp])) for name in sharp[0]}
        if sharp
        else None,
    }


def _differences(by_model: Mapping[str, Sequence[Numbers]], chosen: str) -> Numbers:
    """Paired differences by what the paper claims of them."""
    largest = max(by_model, key=_lambda)
    pairs = {
        "chosen - plain": (chosen, "plain"),
        "chosen - lambda 0": (chosen, "lambda-0"),
        "lambda 0 - plain": ("lambda-0", "plain"),
        "plain - average": ("plain", "average"),
        "chosen - average": (chosen, "average"),
        "chosen - largest": (chosen, largest),
    }
    return {
        name: asdict(paired_difference_over_runs(*over_seeds(by_model[more], by_model[less])))
        for name, (more, less) in pairs.items()
        if more in by_model and less in by_model and more != less
    }


def claims(task: str, numbers: Numbers) -> list[Claim]:
    """The paper's relative claims that this task can test."""
    plain, average, zero, best, largest = PAPER.get(task, (np.nan,) * 5)
    said = {
        "chosen - plain": ("self-explaining (λ of dev) is better than plain", best - plain),
        "chosen - lambda 0": ("the concentration penalty helps: λ of dev against λ = 0", best - zero),
        "lambda 0 - plain": ("even λ = 0 is better than plain", zero - plain),
        "plain - average": ("averaging all spans is worse than plain", plain - average),
        "chosen - average": ("learnt weights are better than averaging", best - average),
        "chosen - largest": ("too large a λ hurts: λ of dev against the largest", best - largest),
    }
    return [
        Claim(
            _said(words, paper), None if np.isnan(paper) else paper, Interval(**numbers["differences"][name])
        )
        for name, (words, paper) in said.items()
        if name in numbers["differences"]
    ]


def _said(words: str, paper: float) -> str:
    """The claim; what the paper's text says against its own numbers is marked."""
    return f"{words} (the paper's words; its numbers say otherwise)" if paper < 0 else words


def as_picture(task: str, numbers: Numbers) -> str:
    """Every model's difference from plain, as SVG."""
    over = {
        _title(name): Interval(**one["over_plain"])
        for name, one in numbers["models"].items()
        if name != "plain"
    }
    panel = Panel("test accuracy minus plain", "points; better than plain →", over)
    seeds = max(one["seeds"] for one in numbers["models"].values())
    return interval_plot(
        f"{TASKS[task]}: what explaining itself costs or gains",
        list(over),
        [panel],
        f"{numbers['texts']} test texts × {seeds} {'seed' if seeds == 1 else 'seeds'}; 95 % intervals, paired; grey: not told from plain",
    )


def _title(name: str) -> str:
    if name.startswith("entropy-"):
        return f"self-explaining, entropy × {name.removeprefix('entropy-')}"
    if name.startswith("narrow-"):
        return f"self-explaining, λ = 1, spans {name.removeprefix('narrow-')} wide"
    return TITLES.get(name, f"self-explaining, λ = {_lambda(name):g}")


def as_page(task: str, size: str, numbers: Numbers) -> str:
    """The report as a Markdown page."""
    rows = "\n".join(_row(name, found) for name, found in numbers["models"].items())
    return (
        f"# {TASKS[task]}: accuracy of self-explaining models\n\n"
        f"Table 1 and figure 2 of Sun et al. (2020), size {size}; {numbers['texts']} test texts. Made by\n"
        f"`python -m pellucid.studies.s0_accuracy --task {task} --size {size} --data FOLDER --out studies/s0_accuracy/{task}`.\n\n"
        "![Difference from plain](picture.svg)\n\n"
        "| model | seeds | dev | test [95 %] | minus plain [95 %] | effective spans | top span: weight | its share of the words |\n"
        f"|---|---|---|---|---|---|---|---|\n{rows}\n\n"
        "Accuracy in points; dev is that of the best epoch. Intervals: texts and training seeds are resampled, differences\n"
        "are paired. Effective spans: 1 / Σα², the mean over dev texts, by seed.\n\n"
        f"{_unfinished(numbers)}{_held(numbers)}\n## The paper's claims\n\n{claims_table(claims(task, numbers), 'points')}\n"
        "Reproduced: the interval lies on the paper's side of 0. Not reproduced: on the other. Else undecided. With few\n"
        "seeds the intervals are somewhat too narrow, and several claims are tested at once.\n"
        f"{_one_seed(numbers)}"
    )


def _one_seed(numbers: Numbers) -> str:
    if max(one["seeds"] for one in numbers["models"].values()) > 1:
        return ""
    return "\n**One seed so far:** the intervals know of texts alone, not of the luck of a training, so no verdict is final.\n"


def _unfinished(numbers: Numbers) -> str:
    missing = numbers.get("unfinished", 0)
    return f"**Not finished:** {missing} trainings are still to come.\n\n" if missing else ""


def _held(numbers: Numbers) -> str:
    if numbers["chosen"] is None:
        return ""
    over = numbers["differences"]["chosen - plain"]
    held = "held" if over["mean"] >= NO_WORSE else "not held"
    return (
        f"λ chosen on dev: **{_lambda(numbers['chosen']):g}**. Its mean difference from the plain twin on test is "
        f"{over['mean']:+.2f} [{over['low']:+.2f}, {over['high']:+.2f}] points; we ask for at least {NO_WORSE}: **{held}**.\n"
    )


def _row(name: str, found: Numbers) -> str:
    test, over = (
        "{mean:.2f} [{low:.2f}, {high:.2f}]".format(**found[part]) for part in ("test", "over_plain")
    )
    sharp = found["sharpness"]
    told = (
        f"{', '.join(f'{one:.3g}' for one in found['effective_spans'])} | {sharp['top_weight']:.2f} | {sharp['top_share']:.0%}"
        if sharp
        else "– | – | –"
    )
    return f"| {_title(name)} | {found['seeds']} | {found['dev']:.2f} | {test} | {'–' if name == 'plain' else over} | {told} |"
