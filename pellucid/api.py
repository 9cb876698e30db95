"""The doors: what `import pellucid` offers. They join rooms and hold no mathematics."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import torch

from pellucid import upgrading
from pellucid.core.catalogue import Call, Choice
from pellucid.core.checks import at_least, known, one_of
from pellucid.core.error_analysis import ErrorAnalysis
from pellucid.core.errors import BadFile, BadInput, BadSetting, ModelCannot, ParityBroken
from pellucid.core.example import Example, as_examples
from pellucid.core.explaining import Request, explain_batch, left_out, method_calls
from pellucid.core.explanation import Explanation
from pellucid.core.extraction import Extraction
from pellucid.core.forward_pass import evaluate_rows
from pellucid.core.hidden_target import HiddenState
from pellucid.core.kinds import attributions, encoders, reasons
from pellucid.core.kinds import formats as known_formats
from pellucid.core.kinds import metrics as known_metrics
from pellucid.core.model import Model
from pellucid.core.progress import Progress
from pellucid.core.scheduler import Scheduler, default_budget
from pellucid.core.side_by_side import SideBySide
from pellucid.core.span_analysis import SpanAnalysis
from pellucid.core.table import Interval, Table
from pellucid.core.target import Output, Problem, Target, TargetName, class_logits
from pellucid.core.trained_texts import seen_caveats
from pellucid.datasets.load import classes_of, load_examples, load_part, load_parts
from pellucid.datasets.planted.carriers import carrier_parts
from pellucid.datasets.planted.plant import PARTS
from pellucid.datasets.planted.plant import plant as plant_in
from pellucid.datasets.planted.rows import edited
from pellucid.evaluation.compared_part import compared_part
from pellucid.evaluation.comparison import Comparison
from pellucid.evaluation.comparison_folder import ComparisonFolder
from pellucid.evaluation.comparison_table import comparison_table
from pellucid.evaluation.cue_words import cue_words, same_texts
from pellucid.evaluation.error_grouping import grouped
from pellucid.evaluation.learnt import Learnt
from pellucid.evaluation.metric_calls import metric_calls
from pellucid.evaluation.summary import accuracy_interval
from pellucid.exports.json_lines import write_json_lines
from pellucid.extraction.extract import extract_from, selection_for
from pellucid.models.analysed_spans import analysed
from pellucid.models.classifier import Classifier
from pellucid.models.composed import Plan
from pellucid.models.encoder_kind import encoder_kind
from pellucid.models.hugging_face import wrap
from pellucid.models.load import load_classifier
from pellucid.reports import page
from pellucid.reports.progress_bar import progress_bar
from pellucid.training.penalty_fit import check_fit, weighs_all_alike
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


def extract(
    model: Model,
    texts: Iterable[str | tuple[str, str] | Example] | str,
    extractor: str = "span_attention",
    *,
    selection: str | None = None,
    budget: float | None = None,
    n_spans: int = 1,
    like: Sequence[Extraction] | None = None,
    seed: int = 0,
    progress: bool | None = None,
    **settings: Any,
) -> list[Extraction]:
    """The part of each text that is its evidence, in order; each text of a pair has spans of its own.

    extractor: "span_attention", "average_gradient", "average_attention", "rationale", "random_span",
    "random_span_of_length", or any attribution method; settings are its own. selection: how its scores become spans:
    "literal", "same_length" (as long as those of `like`), "budget", "best_words", "max_sum_centred", "above_half",
    "top_spans"; None: what budget or like mean, else the extractor's own. budget: a share of a text's words (0.2), or a
    number of words (5). n_spans: how many spans a text has at most.
    """
    examples = as_examples(texts)
    chosen = selection_for(extractor, selection, budget, n_spans, like)
    with progress_bar(progress) as told:
        return extract_from(model, examples, extractor, [chosen], settings, seed, told)[0]


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


def spans(
    model: Model,
    texts: Iterable[str | tuple[str, str] | Example] | str,
    k: int = 3,
    *,
    target: TargetName = "predicted",
    random_spans: int = 10,
    seed: int = 0,
    progress: bool | None = None,
) -> list[SpanAnalysis]:
    """Analyse the k heaviest spans of each text under a self-explaining model: does the explanation hold?

    For each span what its vector says by itself, how it moves the explained logit, and what the model says of its words
    alone, of the text without them, and of up to `random_spans` random spans of the same length. target: as in
    `explain`. Raises `ModelCannot` for a model without span attention, `BadInput` for a text that it reads in windows.
    """
    at_least("k", k, 1)
    at_least("random_spans", random_spans, 1)
    found = _span_weights(model, texts, target, seed, progress)
    scheduler = _scheduler(model)
    batches = [model.encode([explanation.example]) for explanation in found]
    return [
        analysed(model, batch, explanation, scheduler, k, random_spans)
        for batch, explanation in zip(batches, found, strict=True)
    ]


def _span_weights(
    model: Model,
    texts: Iterable[str | tuple[str, str] | Example] | str,
    target: TargetName,
    seed: int,
    progress: bool | None,
) -> list[Explanation]:
    """Each text's span weights, under the method's plain name."""
    if "span_weights" not in model.capabilities:
        raise ModelCannot(f"{model.name} has no span attention; give a model trained with pooler='span'.")
    found = explain_all(
        model, texts, [("span_attention", {"random_spans": 0})], target=target, seed=seed, progress=progress
    )
    return [replace(explanation, method="span_attention") for explanation in found.explanations]


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
    """All usual metrics; those that need gold labels go by the model's own prediction where a label is not its class."""
    strange = any(example.label not in model.labels for example in examples)
    usual = [name for name in known_metrics.names() if known_metrics.get(name).facts["usual"]]
    names = sorted(usual, key=lambda name: (name not in ORDER, ORDER.index(name) if name in ORDER else 0))
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
    encoder: str | Path | None = None,
    encoder_settings: Mapping[str, Any] | None = None,
    start_from: str | Path | None = None,
    pooler: str = "span",
    out: str | Path,
    seed: int = 0,
    device: str = "cpu",
    problem: Problem | None = None,
    pooler_settings: Mapping[str, Any] | None = None,
    max_length: int | None = None,
    penalties: Mapping[str, float] | None = None,
    strip_final_full_stop: bool = False,
    progress: bool | None = None,
    **recipe: Any,
) -> Classifier:
    """Train a classifier, by default a self-explaining one, and save it to a folder that `load` reads.

    data: a data set's name, a folder with train and dev parts, or one file (split 70 / 15 / 15 %); format, read and
    skip_bad_rows say how it is read, as format, settings and skip_bad_rows of `examples`. encoder: "minilm" when not
    given, a folder, a hub name, or "bilstm" or "cnn" with their encoder_settings. start_from: a classifier to upgrade: its
    encoder, labels and tokenizer are kept, and `Upgrade.read(out)` tells its accuracy before and after. pooler: "span"
    and "rationale" explain themselves; "first_token" is their plain twin. max_length: the most pieces of a text that are read as one, up to
    4,096; above what the encoder reads, its windows are joined (None: what the encoder reads). problem: "single_label"
    when not given; "multi_label" reads labels as names with commas between them. penalties: name -> weight; concentration
    1.0 for span attention that is learned, when not given. strip_final_full_stop: the model does not read a full stop at the end of a text
    (corrections.md A0.7). recipe: see `Recipe`. The epoch is chosen on dev. An interrupted run goes on when called again;
    a finished one is loaded.
    """
    check_fit(penalties or {}, pooler, pooler_settings or {})
    parts = load_parts(data, format, skip_bad_rows, **(read or {}))
    started = None if start_from is None else upgrading.start(start_from, encoder, problem, device)
    plan = Plan(
        str(start_from or encoder or "minilm"),
        pooler,
        dict(pooler_settings or {}),
        labels=(),
        problem=problem or "single_label",
        encoder_settings=dict(encoder_settings or {}),
        max_length=max_length,
        strip_final_full_stop=strip_final_full_stop,
    )
    if started is None:
        kind, plan = (
            encoder_kind(plan.encoder),
            replace(plan, labels=_classes(data, parts, plan.problem, format)),
        )
    else:
        kind, plan = started.network.config.model_type, upgrading.continued(plan, started, parts)
    chosen = recipe_of(pooler, seed, penalties, kind, pooler_settings, **recipe)
    with progress_bar(progress) as told:
        model = train_model(parts, plan, chosen, Path(out), device, told)
        if started is not None:
            test = partial(load_part, data, "test", format, skip_bad_rows, **(read or {}))
            upgrading.judge(started, model, Path(out), parts["dev"], test)
    return model


def _classes(
    data: str | Path, parts: Mapping[str, list[Example]], problem: Problem, format: str | None
) -> tuple[str, ...]:
    one_of("problem", problem, ("single_label", "multi_label"))
    classes = classes_of(data, parts["train"], problem, format)
    if len(classes) < 2:
        raise BadInput(
            f"A classifier needs two classes or more; the labels of {data} are: {', '.join(classes) or 'none'}."
        )
    return classes


def recipe_of(
    pooler: str,
    seed: int,
    penalties: Mapping[str, float] | None,
    encoder: str = "minilm",
    pooler_settings: Mapping[str, Any] | None = None,
    **recipe: Any,
) -> Recipe:
    """The recipe of a call of `train`; raises `UnknownName` for a setting that is none."""
    for name in recipe:
        known("setting of training", name, Recipe.__dataclass_fields__)
    default = SPAN_RECIPE if pooler == "span" else {}
    if weighs_all_alike(pooler_settings or {}):
        default = {**default, "penalties": {}}
    if encoder in encoders.names():  # all its parts are new, and learn alike
        default = {
            **default,
            "learning_rate": encoders.get(encoder).facts["learning_rate"],
            "new_parts_factor": 1.0,
        }
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


def error_analysis(
    model: Model,
    examples: Sequence[Example],
    *,
    train: Sequence[Example],
    min_count: int = 5,
    progress: bool | None = None,
) -> ErrorAnalysis:
    """What the evidence of a self-explaining model looks like where it is wrong, counted against where it is right.

    train: labelled texts, other than the examples, to learn each class's cue words from; min_count: in how many of a
    class's train texts a cue word has to be. Raises `ModelCannot` for a model without span attention or with
    several labels a text, `BadInput` for texts without one of its classes as their label.
    """
    if model.problem == "multi_label":
        raise ModelCannot(
            f"{model.name} can give a text several labels; error analysis counts right and wrong answers of one label a "
            "text. Give a single-label model."
        )
    cues = cue_words(train, min_count)
    due = (*seen_caveats(model, examples), *same_texts(train, examples))
    return grouped(_span_weights(model, examples, "predicted", 0, progress), cues, due)


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
    results: page.Results,
    table: Table | None = None,
    *,
    path: str | Path,
    title: str = "Why the model decided as it did",
    about: Mapping[str, Any] | None = None,
) -> Path:
    """Write one HTML file, without script or network, that shows explanations and a comparison; about: facts first.

    results: from `explain`, one picture a method on its own scale; from `explain_all`, all methods side by side on
    one scale, with their agreement; from `spans`, a table a text; from `error_analysis`, patterns with their texts.
    """
    if isinstance(results, SideBySide):
        given: bool = bool(results.explanations)
    else:
        given = isinstance(results, ErrorAnalysis) or bool(results)
    if not given and table is None:
        raise BadInput("There is nothing to report: give explanations, a table, or both.")
    return page.report(results, table, path=path, title=title, about=about)


def _scheduler(model: Model) -> Scheduler:
    return Scheduler(default_budget(model.device))
