"""The numbers of `sst2_methods` over texts and training seeds, with page and picture."""

from collections.abc import Mapping
from dataclasses import asdict

import numpy as np

from pellucid.base.kinds import metrics
from pellucid.results.bootstrap import Range, mean_over_runs, paired_difference_over_runs
from pellucid.results.table import CHANCE, Interval
from studies.shared.claims import ENOUGH_SEEDS, no_verdict
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.units import Numbers

METRICS = ("hiding", "revealing", "comprehensiveness", "sufficiency")


def summarise(results: Numbers) -> Numbers:
    """Each method's means over seeds and texts and its paired differences from chance, with 95 % intervals."""
    judged = {
        title: {seed: one for seed, one in by_seed.items() if "values" in one}
        for title, by_seed in results["methods"].items()
    }
    floor = next(by_seed for title, by_seed in judged.items() if title.partition("(")[0] == CHANCE)
    methods = {title: _summary(by_seed, floor) for title, by_seed in judged.items() if by_seed}
    failed = {
        title: {seed: one["failed"] for seed, one in by_seed.items() if "failed" in one}
        for title, by_seed in results["methods"].items()
    }
    return {
        "texts": results["texts"],
        "models": results["models"],
        "methods": methods,
        "failed": {title: seeds for title, seeds in failed.items() if seeds},
    }


def _summary(by_seed: Mapping[str, Numbers], floor: Mapping[str, Numbers]) -> Numbers:
    """value: mean of [seed text]. over_chance: paired over texts and seeds, without seeds that lack chance."""
    seeds = [seed for seed in by_seed if seed in floor]
    numbers: Numbers = {"settings": next(iter(by_seed.values()))["settings"], "seeds": len(seeds)}
    for metric in METRICS:
        ours, chance = (np.array([runs[seed]["values"][metric] for seed in seeds]) for runs in (by_seed, floor))
        numbers[metric] = {
            "value": asdict(mean_over_runs(ours, _range(metric))),
            "over_chance": asdict(paired_difference_over_runs(ours, chance)),
        }
    return numbers


def _range(metric: str) -> Range:
    """The ends of a metric's range."""
    facts = metrics.get(metric).facts
    return facts["lowest"], facts["highest"]


def better(metric: str, over: Mapping[str, float]) -> Interval:
    """The difference from chance so that more is better."""
    if metrics.get(metric).facts["better"] == "higher":
        return Interval(**over)
    return Interval(-over["mean"], -over["high"], -over["low"])


def ranked(methods: Mapping[str, Numbers]) -> list[str]:
    """Methods by their mean rank over the metrics, best first; chance last."""
    titles = [title for title in methods if title.partition("(")[0] != CHANCE]
    ahead = np.array(
        [[better(metric, methods[title][metric]["over_chance"]).mean for metric in METRICS] for title in titles]
    )
    ranks = (-ahead).argsort(0).argsort(0).mean(1) if titles else np.empty(0)
    floor = [title for title in methods if title not in titles]
    return [titles[number] for number in np.argsort(ranks, kind="stable")] + floor


def as_picture(summary: Numbers) -> str:
    """The differences from chance as SVG."""
    titles = [title for title in ranked(summary["methods"]) if title.partition("(")[0] != CHANCE]
    panels = [
        Panel(
            metric,
            "ahead of chance →",
            {title: better(metric, summary["methods"][title][metric]["over_chance"]) for title in titles},
        )
        for metric in METRICS
    ]
    texts, seeds = len(summary["texts"]), len(summary["models"])
    foot = (
        f"{texts} test sentences × {seeds} training seeds; 95 % intervals, paired; green: better, red: worse, grey: "
        f"not told from chance"
    )
    return interval_plot(f"{summary['title']}: how far each method is ahead of random scores", titles, panels, foot)


def as_page(summary: Numbers) -> str:
    """The results as a Markdown page."""
    methods = summary["methods"]
    rows = "\n".join(_row(title, methods[title], len(summary["models"])) for title in ranked(methods))
    models = "\n".join(
        f"| {one['seed']} | {one['dev']:.4f} | {_rounded(one['test'])} | `{one['hash'][:16]}` |"
        for one in summary["models"]
    )
    directions = " | ".join(
        f"{name} {'↑' if metrics.get(name).facts['better'] == 'higher' else '↓'}" for name in METRICS
    )
    failed = "".join(
        f"- {title}, seed {seed}: {reason}\n"
        for title, seeds in summary["failed"].items()
        for seed, reason in seeds.items()
    )
    settings = "\n".join(f"- {title}: {_settings(one['settings'])}" for title, one in methods.items())
    return (
        f"# {summary['title']}: every method against random scores\n\n"
        f"{len(summary['texts'])} test sentences, those with the smallest digests, and {len(summary['models'])} "
        f"training seeds of a plain MiniLM classifier.\n\n"
        "![Differences from chance with intervals](picture.svg)\n\n"
        f"| method | {directions} |\n|---|---|---|---|---|\n{rows}\n\n"
        "Mean over sentences and seeds with its 95 % t-interval over seeds, in which sentences are nested. Paired with "
        f"chance:\n▲ better, ▼ worse, ○ not told from it, ? below {ENOUGH_SEEDS} seeds. Sorted by mean place; arrows "
        f"say which direction is\nbetter. The predicted class's logit is explained; hiding and revealing count the "
        f"gold class.\n\n## Models\n\n| seed | dev | test [95 %] | digest |\n|---|---|---|---|\n{models}\n\n"
        f"## Settings\n\n{settings}\n" + (f"\n## Failed\n\n{failed}" if failed else "")
    )


def _row(title: str, numbers: Numbers, seeds: int) -> str:
    floor = title.partition("(")[0] == CHANCE
    cells = [
        _rounded(numbers[metric]["value"])
        + ("" if floor else _mark(better(metric, numbers[metric]["over_chance"]), numbers["seeds"]))
        for metric in METRICS
    ]
    some = "" if numbers["seeds"] == seeds else f", {numbers['seeds']} of {seeds} seeds"
    return f"| {title}{some} | {' | '.join(cells)} |"


def _mark(ahead: Interval, seeds: int) -> str:
    if no_verdict(seeds):
        return " ?"
    return " ○" if not ahead.excludes_zero else " ▲" if ahead.mean > 0 else " ▼"


def _rounded(interval: Mapping[str, float]) -> str:
    return "{mean:.3f} [{low:.3f}, {high:.3f}]".format(**interval)


def _settings(settings: Mapping[str, object]) -> str:
    return ", ".join(f"{name} = {value}" for name, value in settings.items()) or "none"
