"""Which explanation finds the words that flip a classifier's answer, in texts that the model is asked about?

Words are exchanged for synonyms, one after another, in the order of an explanation's scores; the explanation itself
costs nothing here, so that only the order counts. Random order is the floor; PWWS, whose order asks the model about
every synonym, stands beside with its cost.

    python -m studies attack_orders --task sst2 --data FOLDER --work work/s0_attacks --out studies/attack_orders \\
        --processes 2

FOLDER holds train, dev and test of the task as JSON lines. The victims are the plain ones of s0_attacks; with the same
--work they are not trained again. Needs WordNet. Finished units are kept and not made again. `--size tiny --task pocket
--data pocket` takes seconds.
"""

import time
from functools import partial

import pellucid
from pellucid.attacks.named import AttackPlan
from pellucid.base.processes import Share
from pellucid.demo import FEW_PASSES
from studies.attack_orders.numbers import summarise
from studies.attack_orders.page import as_page, as_picture
from studies.attack_orders.sizes import BEST, RANDOM, SIZES
from studies.s0_attacks.attempts import attempt_record
from studies.s0_attacks.study import TASK, about
from studies.s0_attacks.tasks import PLAIN, parts_of
from studies.s0_attacks.victims import trained_victim, units_of_victims, victim_about
from studies.shared.options import DATA, DEVICE, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit


@studies.add()
def attack_orders() -> Study:
    """Which explanation finds the words whose synonyms change a classifier's answer?"""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, TASK, DEVICE, FINISHED),
        work=UnitStages({"victims": units_of_victims(PLAIN), "orders": order_units}),
        summary=lambda settings, records: summarise(about(settings), records),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"orders.svg": lambda settings, numbers: as_picture(numbers)},
    )


def order_units(settings: Settings, records: Records) -> list[Unit]:
    """Every order on each seed's victim."""
    return [
        Unit(
            f"order-{order}-{seed}",
            victim_about(settings, PLAIN, seed) | {"order": order},
            partial(_attacked, settings, order, seed),
            device=settings.device,
        )
        for seed in range(settings.size.seeds)
        for order in (RANDOM, BEST, *settings.size.methods)
    ]


def _attacked(settings: Settings, order: str, seed: int, share: Share) -> Numbers:
    began = time.perf_counter()
    model, texts = trained_victim(settings, PLAIN, seed), parts_of(settings)["test"]
    scores = None
    attack: str | AttackPlan = BEST if order == BEST else AttackPlan(order, ("synonyms",))
    if order not in (RANDOM, BEST):
        scores = pellucid.explain(
            model,
            texts,
            order,
            output="probability",
            seed=seed,
            progress=False,
            **FEW_PASSES.get(order, {}),
        )
        share(0.5)
    attempts = pellucid.attack(model, texts, attack, order_from=scores, seed=seed, progress=False)
    return {
        "order": order,
        "seed": seed,
        "texts": [attempt_record(one) for one in attempts],
        "seconds": time.perf_counter() - began,
    }
