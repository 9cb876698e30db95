"""The page of `planted_truth`: whether each reason was learnt, and the methods' scores."""

from collections.abc import Mapping, Sequence

from pellucid.evidence.transfers import decoy_first, reason_precision
from pellucid.results.table import CHANCE, Interval
from studies.shared.computing_environment import count_machines, where_computed
from studies.shared.markdown import not_run_yet
from studies.shared.units import Numbers

# measure -> (value of each text, whether more is better, what the page calls it)
MEASURES = {
    "reason_found": (reason_precision, True, "Average precision of the reason's words (1: they rank first)"),
    "decoy_first": (
        decoy_first,
        False,
        "Share of texts in which the decoy ranks above the whole reason (0 is best)",
    ),
}


def as_page(results: Sequence[Numbers], missing: Sequence[str] = ()) -> str:
    """The results as a Markdown page. missing: names of units that are not finished."""
    first = results[0]["about"]
    tables = "\n".join(
        f"## {heading}, {pooler}\n\n{_table(results, pooler, measure)}\n"
        for measure, (_, _, heading) in MEASURES.items()
        for pooler in dict.fromkeys(result["about"]["pooler"] for result in results)
    )
    return (
        "# Planted truth: which methods find the known reason?\n\n"
        f"{first['encoder']} on pocket's sentences with a planted reason, half of each label. "
        "A decoy word goes with the\nlabel in nine of ten train texts, and in half of the test texts.\n\n"
        "## Was it learnt?\n\n"
        "Share of right answers on test texts: as they are; with the reason edited, so that the label turns; with the "
        f"other\ndecoy, so that it stays. Below {first['enough']} in any of them, nothing can be said about "
        f"explainers.\n\n{_learnt_table(results)}\n\n{not_run_yet([', '.join(missing)] if missing else [])}{tables}\n"
        "**One training of each:** a row speaks of that model; another training may rank methods otherwise.\n"
        f"{where_computed(count_machines(results))}\n\n"
        "95 % bootstrap intervals over texts; two texts share a carrier sentence. `·`: not told from chance, or worse, "
        "text by\ntext. Methods with their default settings, on the predicted class's logit. What each reason is: "
        "[plant a reason](../../docs/how-to/plant-a-reason.md).\n"
    )


def _title(result: Numbers) -> str:
    return f"{result['about']['reason']}, {result['about']['n']} texts"


def _learnt_table(results: Sequence[Numbers]) -> str:
    rows = [
        "| {reason} | {n} | {pooler} | {epochs} | ".format(**result["about"])
        + " | ".join(_rounded(result["learnt"][name]) for name in ("accuracy", "counterfactual", "distractor"))
        + f" | {'yes' if result['learnt']['holds'] else 'no'} |"
        for result in results
    ]
    head = (
        "| reason | train texts | pooler | epochs | as they are | reason edited | other decoy | learnt "
        "|\n|---|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *rows])


def _table(results: Sequence[Numbers], pooler: str, measure: str) -> str:
    """Methods down, learnt reasons across."""
    columns = [result for result in results if result["about"]["pooler"] == pooler and result["methods"]]
    if not columns:
        return "Nothing was learnt: nothing can be said about explainers."
    methods = sorted(
        {title for column in columns for title in column["methods"]}, key=lambda name: (name == CHANCE, name)
    )
    rows = [
        f"| {title} | " + " | ".join(_cell(column["methods"].get(title), measure) for column in columns) + " |"
        for title in methods
    ]
    usual = min(result["about"]["n"] for result in results)
    heads = [column["about"]["reason"] if column["about"]["n"] == usual else _title(column) for column in columns]
    head = f"| method | {' | '.join(heads)} |\n|---{'|---' * len(columns)}|"
    return "\n".join([head, *rows])


def _cell(method: Numbers | None, measure: str) -> str:
    if method is None:
        return "–"
    _, more_is_better, _ = MEASURES[measure]
    over = Interval(**method[measure]["over_chance"])
    better = over.low > 0 if more_is_better else over.high < 0
    return _rounded(method[measure]["value"]) + ("" if better else " ·")


def _rounded(interval: Mapping[str, float] | None) -> str:
    return "–" if interval is None else "{mean:.2f} [{low:.2f}, {high:.2f}]".format(**interval)
