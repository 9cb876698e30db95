"""Which weight of tying and of masked words dev chooses, and how a later study reads the choice of an earlier one."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pellucid.base.errors import BadFile
from pellucid.base.files import read_text
from studies.s4_fragility.numbers import f1
from studies.shared.attention_models import USUAL_WEIGHTS, WEIGHTED, AttentionModel
from studies.shared.options import Option
from studies.shared.units import Numbers

CHOICE = Option(
    "--choice",
    {"default": "", "help": "folder of s4_fragility on texts of like length, whose chosen weights are used"},
)
POOLER, SEED = "additive", 0  # of the trainings that weights are chosen by


def candidates(weights: Mapping[str, Sequence[float]]) -> list[AttentionModel]:
    """The models that dev chooses from."""
    return [AttentionModel(POOLER, variant, weight) for variant in WEIGHTED for weight in weights[variant]]


def f1_on_dev(run: Numbers) -> float:
    """F1 of class 1 on dev, in points."""
    measure = f1("own")
    return float(measure.number(measure.columns(run["dev"]).mean(0)))


def best_weights(runs: Sequence[Numbers], weights: Mapping[str, Sequence[float]]) -> dict[str, float]:
    """Variant -> the weight with the highest F1 on dev, of equal ones the smallest; without variants that are not
    finished.
    """
    choice = {}
    for variant in WEIGHTED:
        scores = {run["weight"]: f1_on_dev(run) for run in runs if run["variant"] == variant}
        if set(scores) == set(weights[variant]):
            choice[variant] = max(sorted(scores), key=scores.__getitem__)
    return choice


def read_choice(folder: str) -> dict[str, float]:
    """The weights that a finished study chose. Raises `BadFile` where the folder has none."""
    path = Path(folder) / "result.json"
    record = json.loads(read_text(path)) if path.is_file() else {}
    choice = record.get("choice", {}).get("weights", {})
    if set(choice) != set(WEIGHTED):
        raise BadFile(
            f"{folder} has no result.json with chosen weights; give the --out folder of a finished "
            "`s4_fragility --task sst2`, or newsgroups for long texts."
        )
    return {variant: float(choice[variant]) for variant in WEIGHTED}


def weights_or_usual(folder: str) -> dict[str, float]:
    """The weights that a finished study chose; those of `USUAL_WEIGHTS` without one."""
    return read_choice(folder) if folder else dict(USUAL_WEIGHTS)
