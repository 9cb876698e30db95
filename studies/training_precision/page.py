"""The numbers of `training_precision` over seeds, and their page."""

from collections.abc import Sequence
from math import isnan

from pellucid.results.bootstrap import PERCENT, paired_difference_over_runs, t_interval
from pellucid.results.table import Interval
from pellucid.training.checkpoint import best_epoch
from studies.shared.claims import ENOUGH_SEEDS, no_verdict, weighed
from studies.shared.computing_environment import count_machines, where_computed
from studies.shared.markdown import markdown_table, models_with_seeds, not_run_yet
from studies.shared.span_sharpness import spans_beside
from studies.shared.trainings import right_on_shared_seeds
from studies.shared.units import Numbers

FLOAT32 = "float32"
ALLOWED = 0.3  # points of dev accuracy by which another way may differ
TITLES = {
    FLOAT32: "float32",
    "onednn": "float32 by onednn",
    "bfloat16": "bfloat16",
}


def summarise(runs: Sequence[Numbers]) -> Numbers:
    """Each way's accuracy in points over the seeds that it shares with float32, and its difference from float32 with 95
    % intervals.
    """
    by_way = {way: [run for run in runs if run["model"] == way] for way in TITLES}
    plain = by_way[FLOAT32]
    return {
        "ways": {way: _numbers(of, plain) for way, of in by_way.items() if shared_seeds(of, plain)},
        "texts": len(runs[0]["right"]),
        "machines": count_machines(list(runs)),
    }


def _numbers(of: Sequence[Numbers], plain: Sequence[Numbers]) -> Numbers:
    right, plain_right = right_on_shared_seeds(of, plain)
    ours, theirs = ({run["seed"]: dev_accuracy(run) for run in runs} for runs in (of, plain))
    seeds = shared_seeds(of, plain)
    numbers = {
        "seeds": len(seeds),
        "dev": _record(t_interval([ours[seed] for seed in seeds], PERCENT)),
        "test": float(right.mean()),
        "spans": [run["sharpness"] for run in of if run["seed"] in seeds],
    }
    if of is plain:
        return numbers
    differences = [ours[seed] - theirs[seed] for seed in seeds]
    return numbers | {
        "dev_differences": differences,
        "dev_over_float32": _record(t_interval(differences)),
        "test_over_float32": _record(paired_difference_over_runs(right, plain_right)),
    }


def shared_seeds(of: Sequence[Numbers], plain: Sequence[Numbers]) -> list[int]:
    """The seeds that two ways both have."""
    return sorted({run["seed"] for run in of} & {run["seed"] for run in plain})


def dev_accuracy(run: Numbers) -> float:
    """The accuracy on dev of the epoch that training takes, in points."""
    return 100 * float(run["history"][best_epoch(run["history"])]["dev_accuracy"])


def _record(interval: Interval) -> Numbers:
    """None for a bound that so few seeds do not have."""
    bounds = {"low": interval.low, "high": interval.high}
    return {"mean": interval.mean} | {name: None if isnan(one) else one for name, one in bounds.items()}


def verdict(over: Numbers, seeds: int) -> str:
    """Whether dev accuracy is the same within `ALLOWED` points: yes, no, or undecided where the interval says
    neither.
    """
    if too_few := no_verdict(seeds):
        return too_few
    if max(abs(over["low"]), abs(over["high"])) <= ALLOWED:
        return "yes"
    return "no" if over["low"] > ALLOWED or over["high"] < -ALLOWED else "undecided"


def as_page(size: str, numbers: Numbers) -> str:
    """The report as a Markdown page."""
    missing = models_with_seeds({TITLES[way]: seeds for way, seeds in numbers["unfinished"].items()})
    rows = [_row(way, of, not missing) for way, of in numbers["ways"].items()]
    head = [
        "way",
        "seeds",
        "dev",
        "test",
        "dev minus float32",
        "test minus float32",
        f"on these dev texts the same within {ALLOWED}?",
    ]
    return (
        f"# What training in bfloat16, or by a route, costs\n\n"
        f"A span model on MiniLM, trained in three ways that differ in how they compute; size {size}.\n\n"
        f"{not_run_yet(missing)}{markdown_table(head, rows)}\n\n"
        f"Accuracy in points, of the epoch that was best on dev; test has {numbers['texts']:,} texts. Brackets are 95 "
        f"% intervals.\nThose of dev are t-intervals over training seeds: they say what other seeds would give on the "
        f"same texts, of which the best\nepoch was also chosen. Differences are paired by seed; those of test also "
        f"count the choice of texts. The same: the whole\ninterval of dev lies within {ALLOWED} points of 0; no: all "
        f"of it lies outside; else undecided. Below {ENOUGH_SEEDS} seeds, and until all\ntrainings are there, there is "
        f"no verdict. {where_computed(numbers['machines'])}\n"
    )


def _row(way: str, of: Numbers, is_complete: bool) -> list[str]:
    row = [TITLES[way], str(of["seeds"]), _shown(of["dev"]), f"{of['test']:.2f}"]
    if "dev_over_float32" not in of:
        return [*row, "–", "–", "–"]
    over = of["dev_over_float32"]
    judged = verdict(over, of["seeds"]) if is_complete else "no verdict yet"
    return [*row, _shown(over, "+"), _shown(of["test_over_float32"], "+"), weighed(judged, spans_beside(of["spans"]))]


def _shown(interval: Numbers, sign: str = "") -> str:
    if interval["low"] is None:
        return f"{interval['mean']:{sign}.2f}"
    return "{mean:{sign}.2f} [{low:{sign}.2f}, {high:{sign}.2f}]".format(sign=sign, **interval)
