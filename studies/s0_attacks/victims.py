"""The victims in the work folder: each is trained once, and its spans are those that the paraphrases edit."""

import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pellucid
from pellucid.base.processes import Share, no_report
from pellucid.explaining.answers import class_logits_of
from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.extraction import Extraction
from pellucid.training.train import train_model
from studies.s0_attacks.tasks import (
    SELF,
    TASKS,
    AttackTask,
    corpus_size,
    parts_of,
    plan_of,
    recipe_of,
)
from studies.shared.span_sharpness import span_sharpness
from studies.shared.study import Records, Settings
from studies.shared.units import Numbers, Unit, text_digest

MOST_SPANS = 5


def victim_about(settings: Settings, victim: str, seed: int) -> Numbers:
    """What a victim's numbers depend on."""
    task, parts = task_of(settings), parts_of(settings)
    labels = labels_of(settings)
    return {
        "plan": plan_of(task, victim, labels).record(),
        "recipe": recipe_of(task, victim, corpus_size(settings), seed).record(),
        **{f"n_{part}": len(texts) for part, texts in parts.items()},
        "texts": text_digest(parts),
    }


def victim_unit(settings: Settings, victim: str, seed: int) -> Unit:
    """The training of a victim, and its right answers on the texts that will be attacked."""
    return Unit(
        f"victim-{victim}-{seed}",
        victim_about(settings, victim, seed),
        partial(_judged, settings, victim, seed),
        device=settings.device,
    )


def units_of_victims(*victims: str) -> Callable[[Settings, Records], list[Unit]]:
    """A study's stage that trains these victims, for every seed."""
    return lambda settings, records: [
        victim_unit(settings, victim, seed) for seed in range(settings.size.seeds) for victim in victims
    ]


def trained_victim(settings: Settings, victim: str, seed: int, share: Share = no_report) -> Classifier:
    """A victim; a finished one is loaded."""
    task, parts = task_of(settings), parts_of(settings)
    return train_model(
        parts,
        plan_of(task, victim, labels_of(settings)),
        recipe_of(task, victim, corpus_size(settings), seed),
        victim_folder(settings, victim, seed),
        settings.device,
        progress=lambda _, done, total: share(0.9 * done / total),
    )


def own_spans(settings: Settings, seed: int) -> list[Extraction]:
    """The heaviest spans of the test texts by the self-explaining victim of a seed."""
    model = trained_victim(settings, SELF, seed)
    texts = parts_of(settings)["test"]
    return pellucid.extract(model, texts, "span_attention", n_spans=MOST_SPANS, selection="top_spans", progress=False)


def victim_folder(settings: Settings, victim: str, seed: int) -> Path:
    """Where a victim lies."""
    return settings.work / f"{settings.size_name}-{settings.own['task']}-{victim}-{seed}"


def task_of(settings: Settings) -> AttackTask:
    """The task that --task names."""
    return TASKS[settings.own["task"]]


def labels_of(settings: Settings) -> tuple[str, ...]:
    """The classes, by the alphabet."""
    return tuple(sorted({one.label for one in parts_of(settings)["train"] if one.label is not None}))


def _judged(settings: Settings, victim: str, seed: int, share: Share) -> Numbers:
    """Train a victim; its right answers on the texts that will be attacked."""
    began = time.perf_counter()
    model, labels, texts = (
        trained_victim(settings, victim, seed, share),
        labels_of(settings),
        parts_of(settings)["test"],
    )
    answers = class_logits_of(model, texts).argmax(-1).tolist()
    right = [labels[answer] == one.label for answer, one in zip(answers, texts, strict=True)]
    return {
        "victim": victim,
        "seed": seed,
        "right": right,
        "digest": model.hash,
        "sharpness": span_sharpness(model, parts_of(settings)["dev"]) if victim == SELF else None,
        "seconds": time.perf_counter() - began,
    }
