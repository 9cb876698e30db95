"""The door `compare`: methods judged by metrics, in memory or in a folder."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from pellucid.base.catalogue import Choice
from pellucid.base.checks import choices, in_syntax, whole
from pellucid.base.errors import BadSetting, ModelCannot, notify
from pellucid.base.files import possible_path
from pellucid.base.json_text import json_digest
from pellucid.base.leases import Share, joined_by_slices, share_of
from pellucid.base.processes import Progress
from pellucid.comparison.checking import NO_CHECKS, Checking, check_calls, checking_of, is_empty, trainer_of
from pellucid.comparison.compared_part import ComparisonCost, compared_part, comparison_cost
from pellucid.comparison.comparison import Comparison
from pellucid.comparison.comparison_of import comparison_of, compute_parts
from pellucid.comparison.folder import REPORT, VALUES, ComparisonFolder
from pellucid.comparison.judged_part import JudgedPart
from pellucid.comparison.reuse import earlier_comparison
from pellucid.comparison.run_checks import CheckFolder
from pellucid.comparison.scored_text import Explained, by_method, joined
from pellucid.comparison.table import comparison_table
from pellucid.corpus.slices import crew_of
from pellucid.drawing.comparison_section import TITLE
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.examples import examples_for, strange_for
from pellucid.explaining.inputs.models import any_model_from, model_from
from pellucid.explaining.inputs.readings import Data, ModelSource, judged_target
from pellucid.explaining.read import read
from pellucid.explaining.report import write_page
from pellucid.explaining.saved import SavedExplanations, saved_explanations, texts_of
from pellucid.results.explanation import Explanation
from pellucid.results.interval import CheckOutcome
from pellucid.results.table import Table
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import WRITING, Model, answers_for_places
from pellucid.run.predicting import predictions
from pellucid.run.target import TargetName
from pellucid.run.word import Word
from pellucid.text.example import Example
from pellucid.text.label_map import LabelMap
from pellucid.text.passages import FixedPart, with_fixed_parts
from pellucid.words.shortcuts import FEWEST, PASSES, shortcuts_in

MOST_RESAMPLES = 1_000_000  # more change no digit that is shown


def compare(
    model: ModelSource,
    examples: Data | None = None,
    methods: Iterable[Choice] | None = None,
    metrics: Iterable[Choice] | None = None,
    *,
    explained: Sequence[Explanation] | str | Path | None = None,
    target: TargetName | Word = "predicted",
    seed: int = 0,
    resamples: int = 1000,
    checks: Iterable[Choice] | None = None,
    twins: ModelSource | Sequence[ModelSource] = (),
    train: Data | None = None,
    corpora: Sequence[Any] | Mapping[str, Any] | str | Path = (),
    folder: str | Path | None = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    shortcut_passes: int = PASSES,
    skip_bad_rows: bool = False,
    keep: FixedPart | Sequence[FixedPart] | None = None,
    workers: int = 1,
    slice: str | None = None,
    engine: Choice = "local",
    reuse: str | Path | None = None,
    progress: bool | Progress | None = None,
) -> Table:
    """Judge explanation methods by metrics on these examples, each number with its interval and its distance from
    chance.

    model: from `load`, `train` or another door; or a folder, a hub name, a text-classification pipeline of transformers
        or a fitted one of scikit-learn. Of a model that writes, explanations of the whole text are judged by hiding
        words of what it read: the probability is that of a piece of the text, the geometric mean.
    examples: strings, pairs or `Example`s, a data frame, a `datasets.Dataset`, the name or path of data; some metrics
        need labels or marked evidence. Where labels are no classes of the model, its own predictions stand for them.
        None: the texts of `explained`.
    methods: names, or (name, settings) pairs; None: all usual ones that the model supports. Chance is always judged
        too.
    metrics: likewise; None: all usual ones.
    explained: explanations of these texts by this model, from `explain`, a `Run`, or the file or folder of them: they
        are judged as they are, and methods that are not among them are explained. Without `methods`, those in it are
        judged.
    target: what is explained: "predicted", "gold", a class name or number, or a pair of classes "why A, not B".
    seed: a whole number; the seed of random methods and of the intervals.
    resamples: bootstrap draws behind each 95 % interval, 10 or more.
    checks: what no single text can answer (`checks` lists them): names, or (name, settings) pairs; "all" among them:
        every one that is not long and has what it needs; None: none.
    twins: further trainings of the model, which differ in their random seed alone; checks such as seed_agreement need
        them.
    train: labelled texts to train on, for checks that train models: label_randomisation, roar. The model is then given
        as a folder, in which its recipe stands.
    corpora: explanations of other data sets, each by a model of its own, for corpus_agreement: files that `save` wrote,
        folders of comparisons, or what `explain` returned; a dictionary gives them names.
    folder: keep explanations, values, table and report there; `values.parquet` has every value. An interrupted
        comparison goes on when it is called again; a finished one is loaded, and files of it that are missing or were
        changed are made again. One that only has more metrics goes on from the folder's explanations.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    shortcut_passes: edited texts that the model answers, at most, to say on the card whether one word decides a class's
        answers; 0: not asked.
    skip_bad_rows: leave out rows without a text, or that cannot be read, with a warning that counts them.
    keep: what no method and no metric takes out of a text, as in `explain`.
    workers: processes that compute parts of the comparison at once, each with a model of its own and its share of the
        threads; more than one need a folder, and a model that was loaded from files. In a script, such a call stands
        under `if __name__ == "__main__":`. The numbers are those of one process with as many threads as a worker has.
    slice: "i/n", such as "3/64", for one of n calls that share a folder, on one machine or several: each computes parts
        that no other one has, and the last one joins them. The bytes are those of one call, where all have as many
        threads.
    engine: what computes: "local", processes of this machine; "ray", actors of Ray, with settings
        ("ray", {"address": "auto"}); or one that another package registers. Others than local need a folder.
    reuse: the folder of an earlier comparison by the same model, with the same methods, metrics and settings or more:
        the explanations and values of texts that it has are copied into folder.
    progress: draw a progress bar; None: when a terminal is watching. A function is called with the stage, how much is
        done, and of how much.

    Returns a table, methods x metrics, with the outcomes of the checks. Raises `UnknownName` for a method, metric or
    setting that does not exist, `ModelCannot` for a method that the model does not support, `BadInput` for examples
    that cannot be explained, `BadFile` for a folder that holds another comparison.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> texts = ["A good film.", "A good, if long, evening.", "Dull."]
    >>> table = pellucid.compare(model, texts, ["occlusion", "lime"], ["comprehensiveness"])
    >>> table
    <Table: 3 methods × 1 metric of function>
    >>> table.cell("occlusion", "comprehensiveness").verdict
    'undecided'
    """
    source, model = model, any_model_from(model)
    saved, examples = _saved(model, examples, explained)
    methods = None if methods is None else choices("methods", methods)
    metrics = None if metrics is None else choices("metrics", metrics)
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map, "skip_bad_rows": skip_bad_rows}
    examples = examples_for(model, examples, names_data=True, strange=strange_for(target), **columns)
    examples = with_fixed_parts(examples, keep)
    whole("resamples", resamples, 10, MOST_RESAMPLES)
    whole("seed", seed, 0, HIGHEST_SEED)
    judged = judged_target(model, target)
    ask = partial(
        comparison_of,
        examples=examples,
        methods=methods,
        metrics=metrics,
        target=judged,
        seed=seed,
        resamples=resamples,
        shortcut_passes=whole("shortcut_passes", shortcut_passes, 0, MOST_RESAMPLES),
        saved=saved,
    )
    comparison = ask(model)
    if checks is not None:
        model_from(model)  # checks change the model or its texts, and read its classes
        if model.problem == "regression":
            raise ModelCannot(f"{model.name} gives a value, and checks read classes; leave checks= away.")
    place = None if folder is None else possible_path(folder)
    training = () if train is None else _training_texts(model, train, columns)
    checking = checking_of(
        comparison,
        checks,
        twins=twins,
        corpora=corpora,
        read=read,
        train=training,
        trainer=lambda: trainer_of(source, model, place),
    )
    share, crew = share_of(slice), crew_of(model, workers, engine, slice, place)
    if reuse is not None and place is None:
        raise BadSetting(
            f"{in_syntax('reuse=', '--reuse')} copies into a folder; give {in_syntax('folder=', '--out')}."
        )
    with progress_bar(progress) as show_progress:
        if place is None:
            return _compare_in_memory(comparison, checking, show_progress)
        in_folder = ComparisonFolder(place, comparison, reuse=None if reuse is None else possible_path(reuse))
        if in_folder.earlier_texts is not None:
            notify(f"{in_folder.earlier_texts.count:,} of {len(examples):,} texts are copied from {reuse}.")
        if slice is not None:
            return _compare_by_slices(in_folder, share, show_progress, checking)
        compute = None if crew is None else partial(compute_parts, ask=ask, crew=crew)
        return compare_in(in_folder, show_progress, checking, compute)


def compare_cost(
    model: ModelSource,
    examples: Data | None = None,
    methods: Iterable[Choice] | None = None,
    metrics: Iterable[Choice] | None = None,
    *,
    explained: Sequence[Explanation] | str | Path | None = None,
    target: TargetName | Word = "predicted",
    checks: Iterable[Choice] | None = None,
    twins: ModelSource | Sequence[ModelSource] = (),
    train: Data | None = None,
    corpora: Sequence[Any] | Mapping[str, Any] | str | Path = (),
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    skip_bad_rows: bool = False,
    reuse: str | Path | None = None,
) -> ComparisonCost | None:
    """What `compare` with the same arguments will cost, judged by a trial with four to eight of the texts; None below
    64 texts.

    model, examples, methods, metrics, explained, target, text, label, label_map, skip_bad_rows: as for
        `compare`.
    checks, twins, train, corpora: likewise; twins and data are not read, only counted.
    reuse: likewise; texts that are copied cost nothing and are not counted.

    Returns evaluations and seconds, checks included, but not those that train models. Raises what `compare` raises.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> texts = [f"A good film of {year}." for year in range(1920, 2020)]
    >>> cost = pellucid.compare_cost(model, texts, ["occlusion"], ["sufficiency"])
    >>> cost.texts, cost.tried, cost.evaluations
    (100, 6, 1617)
    """
    model = any_model_from(model)
    saved, examples = _saved(model, examples, explained)
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map, "skip_bad_rows": skip_bad_rows}
    examples = examples_for(model, examples, names_data=True, strange=strange_for(target), **columns)
    judged = judged_target(model, target)
    comparison = comparison_of(model, examples, methods, metrics, target=judged, seed=0, resamples=10, saved=saved)
    n_twins = len(twins) if isinstance(twins, list | tuple) else 1
    came = {"twins": n_twins > 0, "trainer": train is not None, "corpora": not is_empty(corpora)}
    available = frozenset({"explainer", *(name for name, is_there in came.items() if is_there)})
    named = [] if checks is None else choices("checks", checks)
    if reuse is not None:
        left = earlier_comparison(possible_path(reuse), comparison).others()
        if not left:
            return None
        comparison = replace(comparison, examples=left)
    return comparison_cost(comparison, check_calls(named, available), n_twins)


def _saved(
    model: Model, examples: Data | None, explained: Sequence[Explanation] | str | Path | None
) -> tuple[SavedExplanations | None, Data]:
    """Saved explanations, and the texts to judge: those that were given, else those that were saved."""
    saved = None if explained is None else saved_explanations(explained, model)
    return saved, texts_of(saved, examples)


def _training_texts(model: Model, train: Data, columns: Mapping[str, Any]) -> tuple[Example, ...]:
    """Labelled texts under the model's classes."""
    return tuple(examples_for(model, train, names_data=True, split="train", strange="error", **columns))


def _compare_in_memory(comparison: Comparison, checking: Checking, progress: Progress) -> Table:
    judged, explained = [], []
    for index in range(comparison.n_parts):
        part = compared_part(comparison, index, progress)
        judged.append(part.judged)
        if checking.calls:
            explained.append(
                by_method(explanation for of_method in part.explanations.values() for explanation in of_method)
            )
    outcomes = checking.outcomes(comparison, lambda: joined(explained, _titles(comparison)), None, progress)
    return comparison_table(comparison, judged, outcomes, sentences_of_shortcuts(comparison, progress))


def sentences_of_shortcuts(comparison: Comparison, progress: Progress) -> tuple[str, ...]:
    """What decides answers by itself, in sentences; nothing is asked of few texts, or of a model without classes."""
    model, passes = comparison.request.model, comparison.shortcut_passes
    if not passes or len(comparison.examples) < 2 * FEWEST or WRITING in model.capabilities:
        return ()
    if answers_for_places(model) or model.problem == "regression":
        return ()
    answers = predictions(model, comparison.examples, progress)
    seed = comparison.request.seed
    return shortcuts_in(model, comparison.examples, answers, passes=passes, seed=seed, progress=progress).sentences


def compare_in(
    folder: ComparisonFolder,
    progress: Progress,
    checking: Checking = NO_CHECKS,
    compute: Callable[..., None] | None = None,
) -> Table:
    """The table of a comparison in a folder, with the report beside it; finished parts and checks are read, not
    computed again.

    compute: called with the folder and the progress to make the missing parts at once; None: they are made one after
    the other.
    """
    state = folder.files.begin()
    is_finished = folder.is_finished()
    if compute is not None and not is_finished:
        compute(folder, progress=progress)
    table, remade = _finished_table(folder, progress, checking, is_finished), []
    if (
        is_finished and not state.is_whole and folder.is_writable
    ):  # nothing says that report and values are as they were
        write = partial(_write_derived, folder, table, folder.finished_parts())
        remade = folder.files.rewritten([REPORT, VALUES], write)
    folder.files.end(state, [*folder.damaged, *remade])
    return table


def _compare_by_slices(folder: ComparisonFolder, share: Share, progress: Progress, checking: Checking) -> Table:
    """The same by several calls at once: whoever is last joins the parts, and the others read the table."""
    if not folder.is_finished():
        folder.missing_parts()  # refuses another comparison, and makes the folder ready
    count = folder.comparison.n_parts
    with joined_by_slices(folder.path, share, count, folder.has_part, partial(folder.compute, progress=progress)):
        return compare_in(folder, progress, checking)


def _finished_table(folder: ComparisonFolder, progress: Progress, checking: Checking, is_finished: bool) -> Table:
    """The table, with what belongs to it written. is_finished: whether nothing but checks can be missing."""
    comparison = folder.comparison
    judged = None if is_finished else list(folder.judged(progress))
    of_checks = CheckFolder(folder.path, folder.of_comparison, folder.damaged)
    of_checks.renew(folder.earlier)
    outcomes = checking.outcomes(comparison, lambda: _explained_in(folder), of_checks, progress)
    if judged is None:
        table = folder.read_table()
        if _digest(table.checks) == _digest(outcomes):
            return table
        judged = list(folder.judged(progress))
    table = comparison_table(comparison, judged, outcomes, sentences_of_shortcuts(comparison, progress))
    _write_derived(folder, table, judged)
    folder.write_table(table)
    return folder.read_table()


def _write_derived(folder: ComparisonFolder, table: Table, judged: Sequence[JudgedPart]) -> None:
    """Write the report and all values."""
    shown = [explanation for explanation in folder.explanations(0) if not explanation.rows]
    write_page(shown, table, path=folder.report, title=TITLE)
    folder.write_values(judged)


def _explained_in(folder: ComparisonFolder) -> Explained:
    """The words and scores of all parts."""
    parts = (by_method(folder.explanations(index)) for index in range(folder.comparison.n_parts))
    return joined(parts, _titles(folder.comparison))


def _titles(comparison: Comparison) -> list[str]:
    return [call.title for call in comparison.request.calls]


def _digest(outcomes: Sequence[CheckOutcome]) -> str:
    """Equal for equal outcomes, also where values are not known, which makes numbers unequal to themselves."""
    return json_digest([asdict(outcome) for outcome in outcomes])


def compare_with(
    model: Model,
    examples: Sequence[Example],
    methods: Iterable[Choice] | None,
    metrics: Iterable[Choice] | None,
    *,
    target: TargetName,
    seed: int,
    resamples: int,
    progress: Progress,
) -> tuple[dict[str, list[Explanation]], Table]:
    """All explanations and the table of a comparison; `compare` returns the table alone."""
    judged = judged_target(model, target)
    comparison = comparison_of(model, examples, methods, metrics, target=judged, seed=seed, resamples=resamples)
    parts = [compared_part(comparison, index, progress) for index in range(comparison.n_parts)]
    explanations = {
        title: [explanation for part in parts for explanation in part.explanations[title]]
        for title in parts[0].explanations
    }
    return explanations, comparison_table(comparison, [part.judged for part in parts])
