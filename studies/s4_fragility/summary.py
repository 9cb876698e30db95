"""The numbers of result.json: the choice on dev, a row a model, claims, and what is missing."""

from collections.abc import Mapping, Sequence

from studies.s4_fragility.choice import POOLER, f1_on_dev
from studies.s4_fragility.information_numbers import information_numbers
from studies.s4_fragility.numbers import (
    FALLS,
    Runs,
    claim_records,
    claims,
    f1_of_draw,
    model_numbers,
)
from studies.s4_fragility.tasks import TASKS
from studies.shared.attention_models import PAPER_NAMES, WEIGHTED
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers


def summarise(about: Numbers, records: Records, weights: Mapping[str, float]) -> Numbers:
    """Of finished units; models: "pooler variant" -> its row."""
    trainings, information = (list(records[stage].values()) for stage in ("trainings", "information"))
    models = by_model(trainings)
    wanted = [(pooler, variant) for pooler, variants in about["variants"].items() for variant in variants]
    return {
        "about": about,
        "choice": {"weights": dict(weights), "dev": [_on_dev(one) for one in records["choice"].values()]},
        "models": {" ".join(model): model_numbers(runs) for model, runs in models.items()},
        "claims": claim_records(claims(TASKS[about["task"]].paper, models)),
        "information": information_numbers(TASKS[about["task"]].paper, information),
        "sentences": {run["variant"]: run["plots"] for run in records["sentences"].values()},
        "missing": models_with_seeds(
            {" ".join(model): missing_seeds(about["seeds"], models.get(model, ())) for model in wanted}
            | {
                f"table 2, {PAPER_NAMES[variant]}": missing_seeds(
                    about["seeds"], [run for run in information if run["variant"] == variant]
                )
                for pooler, variant in wanted
                if pooler == POOLER
            }
        ),
        "machines": count_machines(trainings),
    }


def missing_seeds(seeds: int, runs: Runs) -> list[int]:
    """The seeds below `seeds` that no run has."""
    return sorted(set(range(seeds)) - {run["seed"] for run in runs})


def by_model(runs: Sequence[Numbers]) -> dict[tuple[str, str], Runs]:
    """(pooler, variant) -> its trainings, in the order of their seeds."""
    models: dict[tuple[str, str], list[Numbers]] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        models.setdefault((run["pooler"], run["variant"]), []).append(run)
    return dict(models)


def _on_dev(run: Numbers) -> Numbers:
    """A training that the weight may be chosen by: F1 and its change under other weights, on dev."""
    assert run["pooler"] == POOLER and run["variant"] in WEIGHTED
    own, dev = f1_on_dev(run), run["dev"]
    falls = {way: sum(f1_of_draw(dev, draw) for draw in dev[way]) / len(dev[way]) - own for way in FALLS}
    return {"variant": run["variant"], "weight": run["weight"], "own": own, **falls}
