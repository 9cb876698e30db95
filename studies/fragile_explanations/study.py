"""How easily are an explanation's highest words replaced by others, while the model's answer stays?

One word of a text is exchanged for a synonym, until at most one of the three words with the highest scores is left and
the class is the same: goal `explanation`. The same words in the same random order are tried for every method; `chance`,
whose scores have nothing to do with the text, is the ceiling. A model may read an edited text in another way, so a
number is of model and method together.

    python -m studies fragile_explanations --task sst2 --data FOLDER --work work/s0_attacks \\
        --out studies/fragile_explanations --processes 2

FOLDER holds train, dev and test of the task as JSON lines. The victims are the plain ones of s0_attacks; with the same
--work they are not trained again. Needs WordNet. Finished units are kept and not made again. `--size tiny --task pocket
--data pocket` takes seconds.
"""

import time
from functools import partial

import pellucid
from pellucid.attacks.attack_case import Attempt
from pellucid.attacks.named import AttackPlan
from pellucid.base.json_text import nan_as_none
from pellucid.base.processes import Share
from studies.fragile_explanations.numbers import summarise
from studies.fragile_explanations.page import as_page
from studies.fragile_explanations.sizes import MOST_OVERLAP, SIZES, TOP, WORDS
from studies.s0_attacks.study import TASK, about
from studies.s0_attacks.tasks import PLAIN, parts_of
from studies.s0_attacks.victims import trained_victim, units_of_victims, victim_about
from studies.shared.equal_scores import EqualScores
from studies.shared.options import DATA, DEVICE, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit


@studies.add()
def fragile_explanations() -> Study:
    """How easily does a synonym replace an explanation's highest words, while the answer stays?"""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, TASK, DEVICE, FINISHED),
        work=UnitStages({"victims": units_of_victims(PLAIN), "methods": method_units}),
        summary=lambda settings, records: summarise(about(settings), records),
        page=lambda settings, numbers: as_page(numbers),
        equal_scores=EqualScores(
            "the overlap of highest words took equal scores in reading order",
            "Its methods seldom give two words the same score, so little should change.",
            stage="methods",
        ),
    )


def method_units(settings: Settings, records: Records) -> list[Unit]:
    """Every method on each seed's victim."""
    return [
        Unit(
            f"moved-{method}-{seed}",
            victim_about(settings, PLAIN, seed) | {"method": method, "words": WORDS, "top": TOP},
            partial(_moved, settings, method, seed),
            device=settings.device,
        )
        for seed in range(settings.size.seeds)
        for method in settings.size.methods
    ]


def _moved(settings: Settings, method: str, seed: int, share: Share) -> Numbers:
    began = time.perf_counter()
    model, texts = trained_victim(settings, PLAIN, seed), parts_of(settings)["test"]
    plan = AttackPlan("random_order", ("synonyms",), search=("one_unit", {"n_units": WORDS}))
    goal = {"method": method, "k": TOP, "most_overlap": MOST_OVERLAP}
    attempts = pellucid.attack(model, texts, plan, goal=("explanation", goal), seed=seed, progress=False)
    return {
        "method": method,
        "seed": seed,
        "texts": [_record(one) for one in attempts],
        "seconds": time.perf_counter() - began,
    }


def _record(attempt: Attempt) -> Numbers:
    shift = attempt.shift
    tau, overlap = (None, None) if shift is None else (shift.tau, shift.overlap)
    return nan_as_none({"ending": attempt.ending, "queries": attempt.queries, "tau": tau, "overlap": overlap})
