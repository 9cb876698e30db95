"""One model of a corpus: trained, and its methods judged by all metrics and checks in a folder that goes on."""

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path, PurePath

import numpy as np

import pellucid
from pellucid.base.catalogue import Choice
from pellucid.base.processes import Share, no_report, silent
from pellucid.comparison.comparison import metric_calls
from pellucid.comparison.comparison_of import comparison_of
from pellucid.comparison.folder import ComparisonFolder
from pellucid.comparison.judged_part import JudgedPart, joined
from pellucid.comparison.leads import pseudo_values
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.networks import Plan
from pellucid.results.interval import TrustCard
from pellucid.results.table import Table
from pellucid.run.target import Target
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from studies.shared.study import Settings
from studies.shared.units import Numbers
from studies.which_explanation.corpora import CORPORA, labels_of, parts_of, reason_of
from studies.which_explanation.methods import check_choices, metric_choices, short_name

FAITHFUL = ("use", "fast", "second")  # points of a trust card that call a method faithful


def trained(settings: Settings, setting: str, seed: int, share: Share = no_report) -> Classifier:
    """The model of a seed, which reads the first token's state; a finished one is loaded, an interrupted training goes
    on.
    """
    corpus, parts = CORPORA[settings.own["on"]], parts_of(setting, settings.data, settings.size_name)
    recipe = Recipe(epochs=corpus.epochs, learning_rate=corpus.rate, batch_size=32, seed=seed)
    if reason_of(setting) is not None:
        recipe = replace(recipe, batch_size=16, new_parts_factor=2.0)  # as in planted_truth
    return train_model(
        {split: parts[split] for split in ("train", "dev")},
        Plan(settings.encoder, "first_token", {}, labels_of(setting, settings.data, settings.size_name)),
        recipe,
        settings.work / "models" / f"{setting}-{seed}",
        settings.device,
        progress=lambda _, done, total: share(done / total),
    )


def training_numbers(settings: Settings, setting: str, seed: int, share: Share) -> Numbers:
    """How often a model is right on the judged texts, and of a planted reason, whether it was learnt."""
    began = time.perf_counter()
    model = trained(settings, setting, seed, share)
    texts = parts_of(setting, settings.data, settings.size_name)["test"]
    learnt = None
    if reason_of(setting) is not None:
        follows = pellucid.follows_planted_reason(model, texts)
        learnt = {**asdict(follows), "holds": follows.holds(settings.own["enough"])}
    right = asdict(pellucid.accuracy(model, texts))
    numbers = {"setting": setting, "seed": seed, "accuracy": right, "learnt": learnt, "digest": model.hash}
    return numbers | {"seconds": time.perf_counter() - began}


def judged_numbers(settings: Settings, setting: str, seed: int, twin: int, share: Share) -> Numbers:
    """values: metric -> method -> of each text the value, None where it was not judged; checks; and what the trust card
    advises.

    twin: the seed of the training that seed_agreement compares with.
    """
    began, size = time.perf_counter(), settings.size
    model = trained(settings, setting, seed)
    texts = parts_of(setting, settings.data, settings.size_name)["test"]
    choices = metric_choices(size.metrics, reason_of(setting) is not None)
    folder = settings.work / "compared" / f"{setting}-{seed}"
    table = pellucid.compare(
        model,
        texts,
        list(size.methods),
        list(choices.values()),
        checks=check_choices(size.checks, reason_of(setting) is not None),
        twins=[trained(settings, setting, twin)],
        resamples=size.resamples,
        folder=folder,
        progress=False,
    )
    share(1.0)
    return {
        "setting": setting,
        "seed": seed,
        "texts": [one.id for one in texts],
        "better": {name: _better(table, title) for name, title in _titles(table, choices).items()},
        "values": values_of(_judged(settings, model, setting, folder), _titles(table, choices)),
        "ceiling": ceiling_record(table, _titles(table, choices)),
        "checks": check_records(table),
        "card": card_record(table.card),
        "seconds": time.perf_counter() - began,
    }


def values_of(part: JudgedPart, titles: Mapping[str, str]) -> Numbers:
    """metric's name -> method -> [text]: values whose mean is the metric's number; None where a text was not judged."""
    methods = list(dict.fromkeys(method for method, _ in part.values))
    return {
        name: {
            short_name(method): _rounded(
                pseudo_values(part.values[method, title].columns.mean(0), part.values[method, title].combine)
            )
            for method in methods
        }
        for name, title in titles.items()
    }


def check_records(table: Table) -> list[Numbers]:
    """The lines of all checks but those of single words, by method."""
    return [
        {
            "check": short_name(outcome.check),
            "method": short_name(line.method),
            "measure": line.measure,
            "beside": PurePath(short_name(line.beside)).name,  # a twin is named by its folder
            **{end: _known(getattr(line.value, end)) for end in ("mean", "low", "high")},
            "n": line.n,
            "passed": line.passed,
        }
        for outcome in table.checks
        if short_name(outcome.check) != "word_ranks"
        for line in outcome.lines
    ]


def ceiling_record(table: Table, titles: Mapping[str, str]) -> Numbers:
    """metric's name -> how far the people who marked the texts agree among themselves; empty where one person marked
    each.
    """
    by_title = {cell.metric: cell.value for cell in table.ceiling}
    return {name: asdict(by_title[title]) for name, title in titles.items() if title in by_title}


def card_record(card: TrustCard | None) -> Numbers:
    """use: the recommended methods, the best first; faithful: those and the other faithful ones; avoid."""
    points = [] if card is None else [(one.kind, list(map(short_name, one.methods))) for one in card.advice]
    faithful = dict.fromkeys(name for kind, names in points if kind in FAITHFUL for name in names)
    return {
        "use": [name for kind, names in points if kind == "use" for name in names],
        "faithful": list(faithful),
        "avoid": [name for kind, names in points if kind == "avoid" for name in names],
    }


def _judged(settings: Settings, model: Classifier, setting: str, folder: Path) -> JudgedPart:
    """The values of the finished comparison in a folder."""
    size = settings.size
    choices = metric_choices(size.metrics, reason_of(setting) is not None)
    comparison = comparison_of(
        model,
        parts_of(setting, settings.data, settings.size_name)["test"],
        list(size.methods),
        list(choices.values()),
        target=Target(),
        seed=0,
        resamples=size.resamples,
    )
    return joined(list(ComparisonFolder(folder, comparison).judged(silent)))


def _titles(table: Table, choices: Mapping[str, Choice]) -> dict[str, str]:
    """What a metric is called here -> its title in the table; those that could not judge these texts are left out."""
    calls = metric_calls(choices.values())
    titles = {name: call.title for name, call in zip(choices, calls, strict=True)}
    return {name: title for name, title in titles.items() if title in table.metrics}


def _better(table: Table, title: str) -> str:
    return next(cell.better for cell in table.cells if cell.metric == title)


def _rounded(values: np.ndarray) -> list[float | None]:
    return [None if math.isnan(value) else round(value, 5) for value in values.tolist()]


def _known(value: float) -> float | None:
    return None if math.isnan(value) else round(value, 5)
