"""The door `compare`: methods judged by metrics, in memory or in a folder."""

from collections.abc import Iterable, Sequence
from pathlib import Path

from pellucid.api.choosing import default_metrics, usual_methods
from pellucid.core.explaining.explaining import Request, method_calls
from pellucid.core.foundation.catalogue import Choice
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.progress import Progress
from pellucid.core.passes.model import Model
from pellucid.core.passes.target import Target, TargetName
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.table import Table
from pellucid.core.text.example import Example, as_examples
from pellucid.evaluation.comparison.compared_part import compared_part
from pellucid.evaluation.comparison.comparison import Comparison, metric_calls
from pellucid.evaluation.comparison.comparison_folder import ComparisonFolder
from pellucid.evaluation.comparison.comparison_table import comparison_table
from pellucid.reports.page import page
from pellucid.reports.terminal.progress_bar import progress_bar


def compare(
    model: Model,
    examples: Sequence[Example],
    methods: Iterable[Choice] | None = None,
    metrics: Iterable[Choice] | None = None,
    *,
    target: TargetName = "predicted",
    seed: int = 0,
    resamples: int = 1000,
    folder: str | Path | None = None,
    progress: bool | None = None,
) -> Table:
    """Judge methods by metrics on these examples, each number with its interval and its distance from chance.

    methods: names, or (name, settings) pairs; all that the model supports when not given; chance is always
    judged too. metrics: likewise. resamples: bootstrap draws behind each interval. folder: keep explanations, values,
    table and report there; an interrupted comparison goes on when called again, a finished one is loaded.
    """
    comparison = comparison_of(model, examples, methods, metrics, Target(target), seed, resamples)
    with progress_bar(progress) as told:
        if folder is not None:
            return compare_in(ComparisonFolder(Path(folder), comparison), told)
        numbers = range(comparison.n_parts)
        judged = [compared_part(comparison, number, told).judged for number in numbers]
        return comparison_table(comparison, judged)


def compare_in(folder: ComparisonFolder, told: Progress) -> Table:
    """The table of a comparison kept in a folder, with the report beside it; what is there is not made again."""
    if not folder.is_finished():
        table = comparison_table(folder.comparison, list(folder.judged(told)))
        shown = [explanation for explanation in folder.first_explanations() if not explanation.rows]
        page.report(shown, table, path=folder.report, title="Pellucid comparison")
        folder.write_table(table)
    return folder.read_table()


def compare_with(
    model: Model,
    examples: Sequence[Example],
    methods: Iterable[Choice] | None,
    metrics: Iterable[Choice] | None,
    *,
    target: TargetName,
    seed: int,
    resamples: int,
    told: Progress,
) -> tuple[dict[str, list[Explanation]], Table]:
    """All explanations and the table of a comparison; `compare` returns the table alone."""
    comparison = comparison_of(model, examples, methods, metrics, Target(target), seed, resamples)
    parts = [compared_part(comparison, number, told) for number in range(comparison.n_parts)]
    explanations = {
        title: [explanation for part in parts for explanation in part.explanations[title]]
        for title in parts[0].explanations
    }
    return explanations, comparison_table(comparison, [part.judged for part in parts])


def comparison_of(
    model: Model,
    examples: Sequence[Example],
    methods: Iterable[Choice] | None,
    metrics: Iterable[Choice] | None,
    target: Target,
    seed: int,
    resamples: int,
) -> Comparison:
    """What a call of `compare` asks, looked up and checked before any work is done."""
    if isinstance(methods, str) or isinstance(metrics, str):
        raise BadSetting("methods and metrics are lists of names; write ['gradient'], not 'gradient'.")
    chosen = list(methods) if methods is not None else usual_methods(model)
    if not any(choice == "chance" or choice[0] == "chance" for choice in chosen):
        chosen.append("chance")
    examples = as_examples(examples)
    judges = metric_calls(metrics if metrics is not None else default_metrics(model, examples))
    request = Request(model, method_calls(chosen, model), target, seed)
    return Comparison(request, examples, judges, resamples)
