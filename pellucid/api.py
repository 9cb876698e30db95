"""The doors: what `import pellucid` offers. They join rooms and hold no mathematics."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from pellucid.core.catalogue import Choice
from pellucid.core.checks import known, one_of
from pellucid.core.errors import BadInput, BadSetting, ModelCannot
from pellucid.core.example import Example, as_examples
from pellucid.core.explaining import Request, explain_batch, method_calls
from pellucid.core.explanation import Explanation
from pellucid.core.forward_pass import evaluate_rows
from pellucid.core.kinds import attributions
from pellucid.core.kinds import metrics as known_metrics
from pellucid.core.model import Model
from pellucid.core.progress import Progress
from pellucid.core.scheduler import Scheduler, default_budget
from pellucid.core.table import Interval, Table
from pellucid.core.target import Output, Problem, Target, TargetName, class_logits
from pellucid.datasets.load import classes_of, load_examples, load_parts
from pellucid.evaluation.judging import judge, metric_calls
from pellucid.evaluation.summary import accuracy_interval
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
ORDER = ("hiding", "revealing", "comprehensiveness", "sufficiency", "token_f1", "iou_f1", "auprc")


def load(
    source: str | Path | torch.nn.Module,
    tokenizer: Any = None,
    *,
    device: str | None = None,
    dtype: str | None = None,
    problem: Problem | None = None,
) -> Classifier:
    """A classifier from a folder, a hub name, or a Hugging Face model in memory with its tokenizer.

    device, dtype: "cpu" and "float32" when not given; a model in memory stays where and what it is.

    problem: how logits become probabilities; read from the model's configuration when not given. Raises
    `BadFile` when there is nothing to load, `ModelCannot` when there is no classification head.
    """
    if isinstance(source, torch.nn.Module):
        if tokenizer is None:
            raise BadInput(
                "To load a model that is in memory, give its tokenizer too: load(model, tokenizer)."
            )
        if device is not None or dtype is not None:
            raise BadSetting("A model in memory is used as it is; move it first: model.to(device, dtype).")
        return wrap(source, tokenizer, problem)
    return load_classifier(source, device=device or "cpu", dtype=dtype or "float32", problem=problem)


def examples(source: str | Path, split: str = "test") -> list[Example]:
    """Examples of a data set by name ("pocket", "pocket_pairs"), of a JSON-lines file, or of a folder's part."""
    return load_examples(source, split)


def explain(
    model: Model,
    texts: Iterable[str | tuple[str, str] | Example] | str,
    method: str = "integrated_gradients",
    *,
    target: TargetName = "predicted",
    output: Output = "logit",
    seed: int = 0,
    progress: bool | None = None,
    **settings: Any,
) -> list[Explanation]:
    """One explanation a text, in order; settings are the method's own (see `methods`).

    texts: strings, pairs, or examples. target: "predicted", "gold", a class name or number, or a pair "why A, not
    B". output: "logit", "probability" or "loss". progress: draw a bar (None: when a terminal is watching).
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
    methods: Iterable[Choice],
    *,
    target: TargetName = "predicted",
    output: Output = "logit",
    seed: int = 0,
    progress: bool | None = None,
) -> dict[str, list[Explanation]]:
    """Several methods on the same texts, sharing their passes: method title -> one explanation a text."""
    request = Request(model, method_calls(methods, model), Target(target, output), seed)
    batch = model.encode(as_examples(texts))
    with progress_bar(progress) as told:
        return explain_batch(request, batch, _scheduler(model), told)


def compare(
    model: Model,
    examples: Sequence[Example],
    methods: Iterable[Choice] | None = None,
    metrics: Iterable[Choice] | None = None,
    *,
    target: TargetName = "predicted",
    seed: int = 0,
    resamples: int = 1000,
    progress: bool | None = None,
) -> Table:
    """Judge methods by metrics on these examples, each number with its interval and its distance from chance.

    methods: names, or (name, settings) pairs; all that the model supports when not given; chance is always
    judged too. metrics: likewise. resamples: bootstrap draws behind each interval.
    """
    with progress_bar(progress) as told:
        return compare_with(
            model, examples, methods, metrics, target=target, seed=seed, resamples=resamples, told=told
        )[1]


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
    """The explanations and the table of a comparison; `compare` returns the table alone."""
    if isinstance(methods, str) or isinstance(metrics, str):
        raise BadSetting("methods and metrics are lists of names; write ['gradient'], not 'gradient'.")
    chosen = list(methods) if methods is not None else supported_methods(model)
    if not any(choice == "chance" or choice[0] == "chance" for choice in chosen):
        chosen.append("chance")
    examples = as_examples(examples)
    if not examples:
        raise BadInput("There are no examples to compare methods on.")
    if model.problem == "regression":
        raise ModelCannot(f"{model.name} gives a value, not a class; methods are compared on classifiers.")
    judges = metric_calls(metrics if metrics is not None else default_metrics(model, examples))
    request = Request(model, method_calls(chosen, model), Target(target), seed)
    batch, scheduler = model.encode(examples), _scheduler(model)
    explanations = explain_batch(request, batch, scheduler, told)
    return explanations, judge(
        model, batch, explanations, judges, scheduler, told, resamples=resamples, seed=seed
    )


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

    data: a data set's name, a folder with train and dev JSON lines, or one file (split 70 / 15 / 15 %). pooler:
    "span" explains itself; "first_token" is its plain twin. problem: "multi_label" reads labels as names with commas
    between them. penalties: name -> weight; concentration 1.0 for span
    attention when not given. recipe: see `Recipe`. The epoch is chosen on dev. An interrupted run goes on when
    called again; a finished one is loaded.
    """
    one_of("problem", problem, ("single_label", "multi_label"))
    parts = load_parts(data)
    classes = classes_of(data, parts["train"], problem)
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
    predicted = class_logits(logits, model.problem).argmax(-1).tolist()
    return accuracy_interval(
        [model.labels[number] == example.label for number, example in zip(predicted, examples, strict=True)]
    )


def methods() -> list[dict[str, Any]]:
    """Every attribution method: name, what it does, needs, cost, default settings and paper."""
    entries = [attributions.get(name) for name in attributions.names()]
    return [
        {
            "name": entry.name,
            "summary": entry.summary,
            "needs": sorted(entry.facts["needs"]),
            "cost": entry.facts["cost"],
            "signed": entry.facts["signed"],
            "complete": entry.facts["complete"],
            "settings": entry.defaults,
            "paper": entry.paper,
        }
        for entry in entries
    ]


def report(
    results: Sequence[Explanation],
    table: Table | None = None,
    *,
    path: str | Path,
    title: str = "Why the model decided as it did",
    about: Mapping[str, Any] | None = None,
) -> Path:
    """Write one HTML file, without script or network, that shows explanations and a comparison; about: facts first."""
    if not results and table is None:
        raise BadInput("There is nothing to report: give explanations, a table, or both.")
    return page.report(results, table, path=path, title=title, about=about)


def _scheduler(model: Model) -> Scheduler:
    return Scheduler(default_budget(model.device))
