"""Seeds summed up: what weights find of learnt reasons, and whether the model that deceives deceives."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import POINTS, SHARE, inside, mean_over_runs, paired_difference_over_runs
from studies.s4_fragility.summary import missing_seeds
from studies.s4_verdicts.verdicts import MARKED, counted_outcomes, text_rows, verdict_rows
from studies.shared.attention_models import DECEPTIVE, PAPER_NAMES
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.study import Records
from studies.shared.units import Numbers

MOST_WEIGHT = 0.05  # on marked words: with more, a model does not deceive
MOST_LOST = 0.02  # of right answers: with more, a model does not deceive

Runs = Sequence[Numbers]


def summarise(about: Numbers, records: Records, classes: Mapping[str, Sequence[str]]) -> Numbers:
    """The numbers of result.json; seeds that have not learnt their reason are named in `not_learnt` and left out.

    classes: reason -> the class of each judged text.
    """
    planted = _grouped(records["planted"].values(), lambda run: f"{run['reason']} {run['variant']}")
    deception = _grouped(records["deception"].values(), lambda run: str(run["variant"]))
    wanted = {
        **{f"{reason} {variant}": planted for reason in about["reasons"] for variant in about["variants"]},
        **dict.fromkeys(("base", DECEPTIVE), deception),
    }
    judged = {name: [run for run in runs if run["learnt"]["holds"]] for name, runs in planted.items()}
    judged |= {f"{MARKED} {variant}": runs for variant, runs in deception.items()}
    rows = verdict_rows(judged)
    return {
        "about": about,
        "verdicts": {
            "models": rows,
            "outcomes": counted_outcomes(rows),
            "texts": text_rows(judged, classes),
        },
        "planted": {name: planted_row(runs) for name, runs in planted.items()},
        "claims": [asdict(one) for one in claims(about, planted)],
        "deception": deception_row(deception.get("base", []), deception.get(DECEPTIVE, [])),
        "missing": models_with_seeds(
            {name: missing_seeds(about["seeds"], groups.get(name, ())) for name, groups in wanted.items()}
        ),
        "machines": count_machines([*records["planted"].values(), *records["deception"].values()]),
    }


def planted_row(runs: Runs) -> Numbers:
    """A reason and a variant: what was learnt, and what its weights find over learnt seeds."""
    learnt = [run for run in runs if run["learnt"]["holds"]]
    row: Numbers = {
        "seeds": len(learnt),
        "not_learnt": [run["seed"] for run in runs if run not in learnt],
        "right": [_least(run["learnt"]) for run in runs],
    }
    if learnt:
        precision = np.array([run["reason_found"] for run in learnt])
        chance = np.array([run["chance"] for run in learnt])
        row |= {
            "reason_found": asdict(mean_over_runs(precision, SHARE)),
            "by_seed": precision.mean(1).tolist(),
            "over_chance": asdict(paired_difference_over_runs(precision, chance)),
            "decoy_first": asdict(mean_over_runs(np.array([run["decoy_first"] for run in learnt]), SHARE)),
            "effective": float(np.mean([run["effective"] for run in learnt])),
        }
    return row


def claims(about: Numbers, planted: Mapping[str, Runs]) -> list[Claim]:
    """Tied and masked-words models' weights find a reason more often than plain ones, over seeds that both learnt; in
    points.
    """
    tested = []
    for reason in about["reasons"]:
        for variant in about["variants"]:
            sides = [planted.get(f"{reason} {name}", ()) for name in (variant, "base")]
            pairs = [{run["seed"]: run for run in runs if run["learnt"]["holds"]} for runs in sides]
            seeds = sorted(pairs[0].keys() & pairs[1].keys())
            if variant != "base" and seeds:
                more, less = (100 * np.array([of[seed]["reason_found"] for seed in seeds]) for of in pairs)
                words = f"{reason}: weights of {PAPER_NAMES[variant]} find the reason more often than those of Base"
                over = inside(paired_difference_over_runs(more, less), POINTS)
                tested.append(Claim(words, None, over, *more.shape))
    return tested


def deception_row(plain: Runs, deceptive: Runs) -> Numbers:
    """Weight on marked words and right answers of both models, and whether the model deceives; {} where one is
    missing.
    """
    if not plain or not deceptive:
        return {}
    weight, right = (
        {
            name: mean_over_runs(np.array([run[field] for run in runs]), SHARE)
            for name, runs in (("base", plain), (DECEPTIVE, deceptive))
        }
        for field in ("marked_weight", "right")
    )
    lost = right["base"].mean - right[DECEPTIVE].mean
    return {
        "seeds": min(len(plain), len(deceptive)),
        "texts": len(plain[0]["right"]),
        "marked_weight": {name: asdict(one) for name, one in weight.items()},
        "right": {name: asdict(one) for name, one in right.items()},
        "effective": {
            name: float(np.mean([run["effective"] for run in runs]))
            for name, runs in (("base", plain), (DECEPTIVE, deceptive))
        },
        "deceives": weight[DECEPTIVE].mean < MOST_WEIGHT and lost <= MOST_LOST,
    }


def _least(learnt: Numbers) -> float:
    shares = (learnt["accuracy"], learnt["counterfactual"], learnt["distractor"])
    return min(float(share["mean"]) for share in shares if share is not None)


def _grouped(runs: Iterable[Numbers], key: Callable[[Numbers], str]) -> dict[str, list[Numbers]]:
    groups: dict[str, list[Numbers]] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        groups.setdefault(key(run), []).append(run)
    return groups
