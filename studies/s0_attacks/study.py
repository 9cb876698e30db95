"""Which explanation finds the few edits that fool a classifier? Six attacks on a model that explains itself, and on its
plain twin.

After Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.6 and table 8. There the other
attacks are on another model than the one that explains itself (docs/papers/corrections.md A0.17); here all are on the
same models.

    python -m studies s0_attacks --task imdb --data FOLDER --work work/s0_attacks --out studies/s0_attacks/imdb \\
        --processes 2

FOLDER holds train, dev and test of the task (imdb, yahoo, sst2) as JSON lines; --task pocket --data pocket takes our
own sentences, and shows those that were fooled. Needs WordNet and Apertium. Finished units are kept and not made again.
"""

from studies.s0_attacks.attempts import attack_unit
from studies.s0_attacks.numbers import summarise
from studies.s0_attacks.page import as_page, as_picture
from studies.s0_attacks.tasks import PLAIN, SELF, SIZES, TASKS, attacks_on, corpus_size, parts_of
from studies.s0_attacks.victims import units_of_victims
from studies.shared.data_folders import corpus_title
from studies.shared.options import DATA, DEVICE, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

TASK = Option("--task", {"choices": list(TASKS), "default": "pocket", "help": "which corpus (default: %(default)s)"})


@studies.add()
def s0_attacks() -> Study:
    """Which explanation finds the few edits that fool a classifier? Table 8 of Sun et al. (2020)."""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, TASK, DEVICE, FINISHED),
        work=UnitStages({"victims": units_of_victims(SELF, PLAIN), "attacks": attack_units}),
        summary=lambda settings, records: summarise(about(settings), records),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"attacks.svg": lambda settings, numbers: as_picture(numbers)},
    )


def attack_units(settings: Settings, records: Records) -> list[Unit]:
    """Every attack on each victim, seed by seed, so that a study that is stopped early has whole tables."""
    return [
        attack_unit(settings, victim, attack, seed)
        for seed in range(settings.size.seeds)
        for victim in (SELF, PLAIN)
        for attack in attacks_on(victim)
    ]


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    size, parts, task = corpus_size(settings), parts_of(settings), settings.own["task"]
    return {
        "task": task,
        "title": corpus_title(TASKS[task].title, settings.data, task, f"{task}_answers_2class"),
        "encoder": TASKS[task].encoder,
        "words": size.words,
        "epochs": size.epochs,
        "seeds": settings.size.seeds,
        **{f"n_{part}": len(texts) for part, texts in parts.items()},
    }
