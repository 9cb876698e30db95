"""The doors: what `import pellucid` offers. They join rooms and hold no mathematics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch

from pellucid.core.catalogue import Call, Choice
from pellucid.core.checks import at_least, known, one_of
from pellucid.core.errors import BadFile, BadInput, BadSetting, ModelCannot, ParityBroken
from pellucid.core.example import Example, as_examples
from pellucid.core.explaining import Request, explain_batch, left_out, method_calls
from pellucid.core.explanation import Explanation
from pellucid.core.forward_pass import evaluate_rows
from pellucid.core.hidden_target import HiddenState
from pellucid.core.kinds import attributions, reasons
from pellucid.core.kinds import formats as known_formats
from pellucid.core.kinds import metrics as known_metrics
from pellucid.core.model import Model
from pellucid.core.progress import Progress
from pellucid.core.scheduler import Scheduler, default_budget
from pellucid.core.side_by_side import SideBySide
from pellucid.core.table import Interval, Table
from pellucid.core.target import Output, Problem, Target, TargetName, class_logits
from pellucid.datasets.load import classes_of, load_examples, load_parts
from pellucid.datasets.planted.carriers import carrier_parts
from pellucid.datasets.planted.plant import PARTS
from pellucid.datasets.planted.plant import plant as plant_in
from pellucid.datasets.planted.rows import edited
from pellucid.evaluation.compared_part import compared_part
from pellucid.evaluation.comparison import Comparison
from pellucid.evaluation.comparison_folder import ComparisonFolder
from pellucid.evaluation.comparison_table import comparison_table
from pellucid.evaluation.learnt import Learnt
from pellucid.evaluation.metric_calls import metric_calls
from pellucid.evaluation.summary import accuracy_interval
from pellucid.exports.json_lines import write_json_lines
from pellucid.models.classifier import Classifier
from pellucid.models.composed import Plan
from pellucid.models.hugging_face import wrap
from pellucid.models.load import load_classifier
from pellucid.reports import page
from pellucid.reports.progress_bar import progress_bar
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model

# Tried on the dev parts of SST-2 and pocket, one seed each. The paper's weight of concentration makes the weights sharp,
# which the explanation lives on; studies/sst2_twins shows what that costs in accuracy.
SPAN_RECIPE: dict[str, Any] = {"new_parts_factor": 2.0, "penalties": {"concentration": 1.0}}
ALL = "all"  # in a list of methods: every one that is usual and that the model supports
ORDER = ("hiding", "revealing", "comprehensiveness", "sufficiency", "token_f1", "iou_f1", "auprc")


def load(
    source: str | Path | torch.nn.Module,
    tokenizer: Any = None,
    *,
    device: str | None = None,
    dtype: str | None = None,
    problem: Problem | None = None,
    max_length: int | None = None,
) -> Classifier:
    """A classifier from a folder, a hub name, or a Hugging Face model in memory with its tokenizer.

    device, dtype: "cpu" and "float32" when not given; a model in memory stays where and what it is.

    problem: how logits become probabilities; read from the model's configuration when not given. max_length: the
    most pieces to read at once, if fewer than the model can (longer texts are read in windows). Raises `BadFile`
    when there is nothing to load, `ModelCannot` when there is no classification head. For other models see
    `from_network`, `from_function` and `from_pipeline`.
    """
    if max_length is not None:
        at_least("max_length", max_length, 8)
    if isinstance(source, torch.nn.Module):
        if tokenizer is None:
            raise BadInput(
                "To load a model that is in memory, give its tokenizer too: load(model, tokenizer)."
            )
        if device is not None or dtype is not None:
            raise BadSetting("A model in memory is used as it is; move it first: model.to(device, dtype).")
        found = wrap(source, tokenizer, problem)
    else:
        found = load_classifier(source, device=device or "cpu", dtype=dtype or "float32", problem=problem)
    return replace(found, window=max_length)


def examples(
    source: str | Path,
    split: str = "test",
    format: str | None = None,
    skip_bad_rows: bool = False,
    **settings: Any,
) -> list[Example]:
    """Examples of a data set by name ("pocket", "pocket_pairs"), or of a file or folder in one of many formats.

    format: see `formats`; told from the name where that is clear (JSON lines, tables). settings are the format's.
    skip_bad_rows: leave rows out that cannot be read, with a warning that counts them.
    """
    return load_examples(source, split, format, skip_bad_rows, **settings)


def plant(
    reason: str,
    on: str | Path | Iterable[str | tuple[str, str] | Example] = "pocket",
    *,
    out: str | Path | None = None,
    n: int = 1000,
    distractor: float | None = 0.9,
    seed: int = 0,
    **settings: Any,
) -> dict[str, list[Example]]:
    """Texts whose label has one known reason, made of the given ones: the parts train, dev and test.

    reason: "token", "token_pair", "order", "position", "span" or "lexicon"; settings are its own. on: a data set's
    name, a file, a folder, or a list of texts. out: a folder to write the parts to, as JSON lines. n: train texts; dev
    and test have a fifth. distractor: how often, in train, a decoy word goes with its label; None plants no decoys.
    """
    call = reasons.calls([(reason, settings)])[0]
    paths = {} if out is None else {part: Path(out) / f"{part}.jsonl" for part in PARTS}
    for path in filter(Path.exists, paths.values()):
        raise BadFile(f"{path} is there already; give another folder, or remove it.")
    parts = plant_in(carrier_parts(on), call, n=n, distractor=distractor, seed=seed)
    for part, path in paths.items():
        write_json_lines(parts[part], path)
    return parts


def explain(
    model: Model,
    texts: Iterable[str | tuple[str, str] | Example] | str,
    method: str = "integrated_gradients",
    *,
    target: TargetName | HiddenState = "predicted",
    output: Output = "logit",
    seed: int = 0,
    progress: bool | None = None,
    **settings: Any,
) -> list[Explanation]:
    """One explanation a text, in order; settings are the method's own (see `methods`).

    texts: strings, pairs, or examples. target: "predicted", "gold", a class name or number, or a pair "why A, not
    B"; or `HiddenState(layer, positions)`. output: "logit", "probability" or "loss". progress: draw a bar (None: when a terminal is watching).
    Raises `ParityBroken` when the explained pass is not the model's own answer.
    """
    found = explain_all(
        model,
        texts,
        [(method, settings) if settings else method],
        target=target,
        output=output,
        seed=seed,
        progress=progress,
    )
    return next(iter(found.values()))


def explain_all(
    model: Model,
    texts: Iterable[str | tuple[str, str] | Example] | str,
    methods: Iterable[Choice] | None = None,
    *,
    target: TargetName | HiddenState = "predicted",
    output: Output = "logit",
    seed: int = 0,
    progress: bool | None = None,
) -> SideBySide:
    """Several methods on the same texts, sharing their passes: a mapping, method's title -> one explanation a text.

    methods: names, or (name, settings) pairs. "all", which is also meant by None, stands for every method that the model
    supports and that is not named besides, without those that run only when they are named; one of these that finds at
    work that it cannot explain the model is left out, while a named one raises `ModelCannot`. The answer draws itself,
    methods side by side; its left_out says which methods are missing, and why.
    """
    chosen, by_all = _chosen(model, methods)
    request = Request(model, method_calls(chosen, model), _what(target, output), seed)
    batch = model.encode(as_examples(texts))
    failed: dict[str, str] = {}

    def refused(call: Call, error: ModelCannot | ParityBroken) -> None:
        if call.entry.name not in by_all:
            raise error
        failed[call.entry.name] = f"does not work here: {error}"

    with progress_bar(progress) as told:
        found = explain_batch(request, batch, _scheduler(model), told, refused)
    return SideBySide(found, left_out(model, request.calls) | failed)


def _chosen(model: Model, methods: Iterable[Choice] | None) -> tuple[list[Choice], frozenset[str]]:
    """The methods to run, and the names of those that "all" stands for."""
    if isinstance(methods, str):
        raise BadSetting(f"methods is a list of names; write [{methods!r}], not {methods!r}.")
    given = [ALL] if methods is None else list(methods)
    named = [choice for choice in given if choice != ALL]
    if ALL not in given:
        return named, frozenset()
    taken = {choice if isinstance(choice, str) else choice[0] for choice in named}
    usual = [str(choice) for choice in usual_methods(model) if choice not in taken]
    return [*usual, *named], frozenset(usual)


def _what(target: TargetName | HiddenState, output: Output) -> Target | HiddenState:
    if not isinstance(target, HiddenState):
        return Target(target, output)
    if output != "logit":
        raise BadSetting(
            f"output={output!r} belongs to classes; a hidden state has no probability and no loss."
        )
    return target


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
            return _compare_in(ComparisonFolder(Path(folder), comparison), told)
        numbers = range(comparison.n_parts)
        judged = [compared_part(comparison, number, told).judged for number in numbers]
        return comparison_table(comparison, judged)


def _compare_in(folder: ComparisonFolder, told: Progress) -> Table:
    if not folder.open():
        table = comparison_table(folder.comparison, list(folder.judged(told)))
        shown = [explanation for explanation in folder.first_explanations() if not explanation.rows]
        page.report(shown, table, path=folder.report, title="Pellucid comparison")
        table.save(folder.table)
    return Table.read(folder.table)


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


def default_metrics(model: Model, examples: Sequence[Example]) -> list[Choice]:
    """All metrics; those that need gold labels go by the model's own prediction where a label is not its class."""
    strange = any(example.label not in model.labels for example in examples)
    names = sorted(
        known_metrics.names(), key=lambda name: (name not in ORDER, ORDER.index(name) if name in ORDER else 0)
    )
    by_prediction = {"reference": "prediction"}
    return [
        (name, by_prediction) if strange and "reference" in known_metrics.get(name).defaults else name
        for name in names
    ]


def usual_methods(model: Model) -> list[Choice]:
    """The names of all methods whose needs the model meets, without those that run only when they are named."""
    return [name for name in supported_methods(model) if attributions.get(str(name)).facts["usual"]]


def supported_methods(model: Model) -> list[Choice]:
    """The names of all methods whose needs the model meets."""
    return [
        name
        for name in attributions.names()
        if not attributions.get(name).facts["needs"] - model.capabilities
    ]


def train(
    data: str | Path,
    *,
    format: str | None = None,
    read: Mapping[str, Any] | None = None,
    skip_bad_rows: bool = False,
    encoder: str | Path = "minilm",
    pooler: str = "span",
    out: str | Path,
    seed: int = 0,
    device: str = "cpu",
    problem: Problem = "single_label",
    pooler_settings: Mapping[str, Any] | None = None,
    penalties: Mapping[str, float] | None = None,
    progress: bool | None = None,
    **recipe: Any,
) -> Classifier:
    """Train a classifier, by default a self-explaining one, and save it to a folder that `load` reads.

    data: a data set's name, a folder with train and dev parts, or one file (split 70 / 15 / 15 %); format, read and
    skip_bad_rows say how it is read, as format, settings and skip_bad_rows of `examples`. pooler:
    "span" and "rationale" explain themselves; "first_token" is their plain twin. problem: "multi_label" reads labels as names with commas
    between them. penalties: name -> weight; concentration 1.0 for span
    attention when not given. recipe: see `Recipe`. The epoch is chosen on dev. An interrupted run goes on when
    called again; a finished one is loaded.
    """
    one_of("problem", problem, ("single_label", "multi_label"))
    parts = load_parts(data, format, skip_bad_rows, **(read or {}))
    classes = classes_of(data, parts["train"], problem, format)
    if len(classes) < 2:
        raise BadInput(
            f"A classifier needs two classes or more; the labels of {data} are: {', '.join(classes) or 'none'}."
        )
    plan = Plan(str(encoder), pooler, dict(pooler_settings or {}), classes, problem)
    chosen = recipe_of(pooler, seed, penalties, **recipe)
    with progress_bar(progress) as told:
        return train_model(parts, plan, chosen, Path(out), device, told)


def recipe_of(pooler: str, seed: int, penalties: Mapping[str, float] | None, **recipe: Any) -> Recipe:
    """The recipe of a call of `train`; raises `UnknownName` for a setting that is none."""
    for name in recipe:
        known("setting of training", name, Recipe.__dataclass_fields__)
    default = SPAN_RECIPE if pooler == "span" else {}
    chosen = {} if penalties is None else {"penalties": dict(penalties)}
    return Recipe(**{**default, **chosen, **recipe, "seed": seed})


def accuracy(model: Model, examples: Sequence[Example]) -> Interval:
    """Share of examples whose predicted class is their label, with a 95 % bootstrap interval over texts."""
    missing = [example.id for example in examples if example.label not in model.labels]
    if missing or not examples:
        raise BadInput(
            f"Accuracy needs examples labelled with {', '.join(model.labels)}; not so: {missing[:3] or 'none given'}."
        )
    logits = evaluate_rows(model, _scheduler(model), model.encode(examples).rows)
    if logits.isnan().any():
        raise ModelCannot(f"{model.name} gives no number for some texts; its weights may not be numbers.")
    predicted = class_logits(logits, model.problem).argmax(-1).tolist()
    return accuracy_interval(
        [model.labels[number] == example.label for number, example in zip(predicted, examples, strict=True)]
    )


def learnt(model: Model, examples: Sequence[Example]) -> Learnt:
    """Whether a model's answers on planted texts follow the reason: accuracy as they are and after each edit.

    Nothing can be said about explanations of a model whose `holds()` is False; `check()` raises `ModelCannot` then.
    """
    decoyed = [example for example in examples if "distractor_edit" in example.meta]
    return Learnt(
        accuracy(model, examples),
        accuracy(model, edited(examples, "counterfactual")),
        accuracy(model, edited(decoyed, "distractor_edit")) if decoyed else None,
    )


def formats() -> list[dict[str, Any]]:
    """Every format that data are read in: name, what it holds, its files, and its settings with their defaults."""
    entries = [known_formats.get(name) for name in known_formats.names()]
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "data": entry.facts["data"],
            "files": entry.facts["reads"],
            "rationales": entry.facts["rationales"],
            "own_dev": entry.facts["own_dev"],
            "package": entry.facts["package"],
            "settings": entry.defaults,
            "paper": entry.paper,
        }
        for entry in entries
    ]


def methods() -> list[dict[str, Any]]:
    """Every attribution method: name, what it does, needs, cost, default settings and paper.

    usual: whether `explain_all` and `compare` run it without being told to.
    """
    entries = [attributions.get(name) for name in attributions.names()]
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "needs": sorted(entry.facts["needs"]),
            "cost": entry.facts["cost"],
            "signed": entry.facts["signed"],
            "complete": entry.facts["complete"],
            "usual": entry.facts["usual"],
            "settings": entry.defaults,
            "paper": entry.paper,
        }
        for entry in entries
    ]


def report(
    results: Sequence[Explanation] | SideBySide,
    table: Table | None = None,
    *,
    path: str | Path,
    title: str = "Why the model decided as it did",
    about: Mapping[str, Any] | None = None,
) -> Path:
    """Write one HTML file, without script or network, that shows explanations and a comparison; about: facts first.

    results: from `explain`, one picture a method on its own scale; from `explain_all`, all methods side by side on
    one scale, with their agreement.
    """
    held = results.explanations if isinstance(results, SideBySide) else results
    if not held and table is None:
        raise BadInput("There is nothing to report: give explanations, a table, or both.")
    return page.report(results, table, path=path, title=title, about=about)


def _scheduler(model: Model) -> Scheduler:
    return Scheduler(default_budget(model.device))
