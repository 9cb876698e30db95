"""The tables of ways of finding concepts x judges, one a corpus, with t-intervals over seeds."""

from collections.abc import Sequence
from dataclasses import asdict

from pellucid.drawing.method_facts import readable
from pellucid.drawing.wording import bounds, three
from pellucid.results.bootstrap import SHARE, t_interval
from pellucid.results.table import Interval
from studies.shared.claims import ENOUGH_SEEDS
from studies.shared.computing_environment import count_machines, where_computed
from studies.shared.markdown import markdown_table, not_run_yet
from studies.shared.units import Numbers

NAMES = ("value", "chance", "over")


def summarise(about: Numbers, runs: Sequence[Numbers]) -> Numbers:
    """Of finished units: corpus -> way -> judge -> means over seeds with t-intervals, and the mark."""
    by_corpus = {corpus: [run for run in runs if run["corpus"] == corpus] for corpus in about["corpora"]}
    wanted = {(corpus, seed) for corpus in about["corpora"] for seed in range(about["seeds"])}
    missing = sorted(wanted - {(run["corpus"], run["seed"]) for run in runs})
    return {
        "about": about,
        "accuracy": {corpus: [run["accuracy"] for run in shown] for corpus, shown in by_corpus.items()},
        "judged": {corpus: _of_corpus(shown) for corpus, shown in by_corpus.items() if shown},
        "missing": [f"{corpus} with seed {seed}" for corpus, seed in missing],
        "machines": count_machines(runs),
    }


def _of_corpus(runs: Sequence[Numbers]) -> Numbers:
    ways = runs[0]["ways"]
    return {
        way: {judge: _of_judge([run["ways"][way][judge] for run in runs]) for judge in judges}
        for way, judges in ways.items()
    }


def _of_judge(verdicts: Sequence[Numbers]) -> Numbers:
    # every judge gives a share, and "over" is the difference of two
    within = {"value": SHARE, "chance": SHARE, "over": (-1.0, 1.0)}
    means = {name: t_interval([verdict[name] for verdict in verdicts], within[name]) for name in NAMES}
    over, better = means["over"], verdicts[0]["better"]
    good, bad = (over.low > 0, over.high < 0) if better == "higher" else (over.high < 0, over.low > 0)
    # seeds that all say the same, such as 0 of all, leave no interval to judge by
    is_spread = over.high - over.low > 1e-9
    mark = "▲" if good and is_spread else "▼" if bad and is_spread else "○"
    mark = mark if len(verdicts) >= ENOUGH_SEEDS else "·"
    return {name: asdict(mean) for name, mean in means.items()} | {"better": better, "mark": mark}


def as_page(numbers: Numbers) -> str:
    """The numbers as a Markdown page."""
    about = numbers["about"]
    tables = "\n\n".join(
        f"## {about['corpora'][corpus]}\n\nRight on test, by seed: "
        f"{', '.join(three(value) for value in numbers['accuracy'][corpus])}.\n\n{_table(judged)}"
        for corpus, judged in numbers["judged"].items()
    )
    return (
        "# Which concepts of a model's own making are better than chance?\n\n"
        f"{about['concepts']} concepts of layer {about['layer']} of MiniLM, which has learnt "
        f"{about['texts']['train']:,} texts in {about['epochs']} epochs: small models, so that\nthree seeds of three "
        f"corpora take minutes. Concepts are found in the train texts and judged on {about['texts']['test']:,} test "
        f"texts; concepts are\ntaken out of {about['removals']} of them.\n\n{not_run_yet(numbers['missing'])}{tables}"
        "\n\nEach cell: the mean over seeds, below it the difference from as many random directions with its 95 % "
        "t-interval over seeds.\n▲ surely better than random directions, ▼ surely worse, ○ unclear, · fewer "
        "than three seeds, which give no verdict. What a judge "
        "asks stands in [the how-to](../../docs/how-to/concepts-of-a-model.md).\nComparisons that other libraries "
        f"publish of such ways were not repeated.\n{where_computed(numbers['machines'])}\n"
    )


def _table(judged: Numbers) -> str:
    judges = next(iter(judged.values()))
    rows = [
        [f"{readable(judge)}, {of['better']} is better", *(_cell(judged[way][judge]) for way in judged)]
        for judge, of in judges.items()
    ]
    return markdown_table(["judge", *judged], rows)


def _cell(of: Numbers) -> str:
    over = Interval(**of["over"])
    return f"{three(of['value']['mean'])}<br>{three(over.mean)} ({bounds(over)}) {of['mark']}"
