"""A row a model and weight, and the claims of tables 1 and 3 at each weight."""

from collections.abc import Mapping, Sequence

from studies.s4_fragility.numbers import Runs, claim_records, claims, is_degenerate, model_numbers
from studies.s4_fragility.summary import missing_seeds
from studies.s4_fragility.tasks import TASKS
from studies.shared.attention_models import PAPER_NAMES, SIGNS
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.units import Numbers

Models = Mapping[tuple[str, str, float], Runs]  # (pooler, variant, weight) -> its trainings, in the order of seeds


def summarise(about: Numbers, runs: Sequence[Numbers]) -> Numbers:
    """Of finished units; rows: of each model its numbers, its claims beside the plain one, and the seeds in which
    either has collapsed.
    """
    models: dict[tuple[str, str, float], list[Numbers]] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        models.setdefault((run["pooler"], run["variant"], run["weight"]), []).append(run)
    wanted = [(pooler, variant, weight) for pooler, variant, weight in about["models"]]
    return {
        "about": about,
        "rows": [_row(TASKS[about["task"]].paper, models, name) for name in wanted if name in models],
        "missing": models_with_seeds(
            {name_of(*name): missing_seeds(about["seeds"], models.get(name, ())) for name in wanted}
        ),
        "machines": count_machines(runs),
    }


def _row(paper: str, models: Models, name: tuple[str, str, float]) -> Numbers:
    pooler, variant, weight = name
    base = models.get((pooler, "base", 0.0))
    pair = {} if base is None or variant == "base" else {(pooler, "base"): base, (pooler, variant): models[name]}
    numbers = model_numbers(models[name])
    collapsed = set(numbers["degenerate"]) | {run["seed"] for run in base or () if is_degenerate(run["test"])}
    return {
        "pooler": pooler,
        "variant": variant,
        "weight": weight,
        "numbers": numbers,
        "collapsed": sorted(collapsed),
        "claims": claim_records(claims(paper, pair)),
    }


def name_of(pooler: str, variant: str, weight: float) -> str:
    """A model as a page names it, such as "additive, Tying δ = 10"."""
    return f"{pooler}, {PAPER_NAMES[variant]}" + (f" {SIGNS[variant]} = {weight:g}" if weight else "")
