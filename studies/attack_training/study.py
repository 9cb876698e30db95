"""Does a classifier become harder to fool when it also learns from texts that fooled it, and one that explains itself
more so?

PWWS attacks some of the texts that a model has learnt from; those that fooled it join the others, with their old
labels, and a new model learns from all. Both are attacked on the same test texts. A synonym may change what a text
says, so a label may be wrong.

    python -m studies attack_training --task sst2 --data FOLDER --work work/attack_training \\
        --out studies/attack_training --processes 2

FOLDER holds train, dev and test of the task as JSON lines. The models are those of s0_attacks, trained on fewer texts.
Needs WordNet. Finished units are kept and not made again. `--size tiny --task pocket --data pocket` takes seconds.
"""

import time
from functools import partial

import pellucid
from pellucid.base.processes import Share
from pellucid.explaining.answers import class_logits_of
from pellucid.models.classifiers.classifier import Classifier
from pellucid.text.example import Example
from pellucid.training.train import train_model
from studies.attack_training.numbers import summarise
from studies.attack_training.page import as_page
from studies.attack_training.sizes import ATTACK, MOST_QUERIES, SIZES
from studies.s0_attacks.attempts import attempt_record
from studies.s0_attacks.study import TASK, about
from studies.s0_attacks.tasks import PLAIN, SELF, corpus_size, parts_of, plan_of, recipe_of
from studies.s0_attacks.victims import (
    labels_of,
    task_of,
    trained_victim,
    units_of_victims,
    victim_about,
    victim_folder,
)
from studies.shared.options import DATA, DEVICE, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit


@studies.add()
def attack_training() -> Study:
    """Does learning from fooled texts make a classifier harder to fool?"""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, TASK, DEVICE, FINISHED),
        work=UnitStages({"victims": units_of_victims(SELF, PLAIN), "lessons": lesson_units}),
        summary=lambda settings, records: summarise(about(settings), settings.size.attacked, records),
        page=lambda settings, numbers: as_page(numbers),
    )


def lesson_units(settings: Settings, records: Records) -> list[Unit]:
    """A second training of every victim."""
    return [
        Unit(
            f"lesson-{victim}-{seed}",
            victim_about(settings, victim, seed) | {"attacked": settings.size.attacked, "queries": MOST_QUERIES},
            partial(_learnt_again, settings, victim, seed),
            device=settings.device,
        )
        for seed in range(settings.size.seeds)
        for victim in (SELF, PLAIN)
    ]


def _learnt_again(settings: Settings, victim: str, seed: int, share: Share) -> Numbers:
    began, parts = time.perf_counter(), parts_of(settings)
    first = trained_victim(settings, victim, seed)
    folder = victim_folder(settings, victim, seed)
    attempts = pellucid.attack(
        first,
        parts["train"][: settings.size.attacked],
        ATTACK,
        max_queries=MOST_QUERIES,
        seed=seed,
        folder=folder.with_suffix(".lessons"),
        progress=False,
    )
    fooled = attempts.examples()
    share(0.3)
    task, size = task_of(settings), corpus_size(settings)
    second = train_model(
        {**parts, "train": [*parts["train"], *fooled]},
        plan_of(task, victim, labels_of(settings)),
        recipe_of(task, victim, size, seed),
        folder.with_suffix(".again"),
        settings.device,
        progress=lambda _, done, total: share(0.3 + 0.5 * done / total),
    )
    return {
        "victim": victim,
        "seed": seed,
        "fooled": len(fooled),
        "first": _judged(first, parts["test"], seed),
        "second": _judged(second, parts["test"], seed),
        "seconds": time.perf_counter() - began,
    }


def _judged(model: Classifier, texts: list[Example], seed: int) -> Numbers:
    """Right answers before the attack, and what the attack did."""
    answers = class_logits_of(model, texts).argmax(-1).tolist()
    attempts = pellucid.attack(model, texts, ATTACK, max_queries=MOST_QUERIES, seed=seed, progress=False)
    right = [model.labels[answer] == one.label for answer, one in zip(answers, texts, strict=True)]
    return {"right": right, "texts": [attempt_record(one) for one in attempts]}
