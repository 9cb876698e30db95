"""Accuracy before and under attack, of models that have and have not learnt from fooled texts, and what that has
changed.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.table import Interval
from studies.s0_attacks.tasks import PLAIN, SELF
from studies.shared.attacked_accuracy import percent_right, standing
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.span_sharpness import spans_beside
from studies.shared.study import Records
from studies.shared.units import Numbers

POINTS = 100.0
NAMES = {SELF: "the model that explains itself", PLAIN: "its plain twin"}
Runs = Sequence[Numbers]


def summarise(about: Numbers, attacked: int, records: Records) -> Numbers:
    """The numbers of the page from the finished units."""
    runs = sorted(records["lessons"].values(), key=lambda run: run["seed"])
    by_victim = {victim: [run for run in runs if run["victim"] == victim] for victim in (SELF, PLAIN)}
    return {
        "about": about | {"attacked": attacked},
        "rows": [row for victim, of in by_victim.items() if of for row in _rows(victim, of)],
        "claims": [asdict(one) for one in _claims(by_victim, _spans_of(records["victims"].values()))],
        "missing": models_with_seeds(
            {
                victim: [one for one in range(about["seeds"]) if one not in {run["seed"] for run in of}]
                for victim, of in by_victim.items()
            }
        ),
        "machines": count_machines([*records["victims"].values(), *runs]),
    }


def _rows(victim: str, runs: Runs) -> list[Numbers]:
    return [
        {
            "victim": victim,
            "model": which,
            "seeds": len(runs),
            "before": asdict(percent_right([run[which]["right"] for run in runs])),
            "after": asdict(percent_right([standing(run[which], np.inf) for run in runs])),
            "fooled": float(np.mean([run["fooled"] for run in runs])),
        }
        for which in ("first", "second")
    ]


def gains(runs: Runs) -> np.ndarray:
    """[seed text (right before, right after)]: what the second model has more than the first, -1 to 1."""
    return np.array(
        [
            np.array([np.subtract(run["second"]["right"], run["first"]["right"], dtype=float), _after(run)]).T
            for run in runs
        ]
    )


def _after(run: Numbers) -> np.ndarray:
    return np.subtract(standing(run["second"], np.inf), standing(run["first"], np.inf))


def _claims(by_victim: dict[str, list[Numbers]], spans: str) -> list[Claim]:
    """That the second models stand the attack better, that they are right more often, and that one victim gains
    more. spans: what the spans of the self-explaining model are like.
    """
    tested = []
    for victim, runs in by_victim.items():
        if runs:
            columns = gains(runs)
            tested += [
                Claim(
                    f"learning from fooled texts lets {NAMES[victim]} {what}",
                    None,
                    _mean(columns, at),
                    len(runs),
                    columns.shape[1],
                    spans if victim == SELF else "",
                )
                for at, what in ((1, "stand the attack better"), (0, "answer better without attack"))
            ]
    pairs = list(zip(by_victim[SELF], by_victim[PLAIN], strict=False))
    if pairs:
        more = gains([one for one, _ in pairs]) - gains([other for _, other in pairs])
        words = "under attack, the model that explains itself gains more than its twin"
        tested.append(Claim(words, None, _mean(more, 1), len(pairs), more.shape[1], spans))
    return tested


def _spans_of(victims: Iterable[Numbers]) -> str:
    ours = sorted((one for one in victims if one["victim"] == SELF), key=lambda one: one["seed"])
    return spans_beside([one.get("sharpness") for one in ours])


def _mean(columns: np.ndarray, at: int) -> Interval:
    return interval_over_seeds(columns, lambda means: POINTS * means[..., at])
