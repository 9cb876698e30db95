"""How far below uniform the weights lie, look by look, and the claims of appendix C."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import NOT_NEGATIVE, mean_over_runs, paired_difference_over_runs
from pellucid.results.table import Interval
from studies.s4_fragility.summary import missing_seeds
from studies.shared.claims import Claim, SameClaim
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.units import Numbers

NORMAL, DEFAULT, SCALED = STARTS = ("normal", "default", "normal, vectors as GloVe's")


def summarise(about: Numbers, runs: Sequence[Numbers]) -> Numbers:
    """Of finished units, for each start: its curve in nats, mean over seeds and texts, and its accuracy on dev."""
    by_start = {start: [run for run in runs if run["start"] == start] for start in STARTS}
    shown = {start: sorted(of, key=lambda run: run["seed"]) for start, of in by_start.items() if of}
    return {
        "about": about,
        "starts": {
            start: {
                "seeds": len(of),
                "steps": of[0]["steps"],
                "curve": [
                    asdict(_mean(np.array([run["below"][look] for run in of]))) for look in range(len(of[0]["steps"]))
                ],
                "dev_accuracy": [max(epoch["dev_accuracy"] for epoch in run["history"]) for run in of],
            }
            for start, of in shown.items()
        },
        "claims": {kind: [asdict(one) for one in listed] for kind, listed in claims(shown).items()},
        "missing": models_with_seeds({start: missing_seeds(about["seeds"], by_start[start]) for start in STARTS}),
        "machines": count_machines(runs),
    }


def claims(shown: dict[str, list[Numbers]]) -> dict[str, list[Claim]]:
    """From the default start the weights stay uniform, from the normal one they do not; and whether larger word vectors
    take them away from uniform; in hundredths of a nat, at the last look.
    """
    below = {start: 100 * np.array([run["below"][-1] for run in runs]) for start, runs in shown.items()}
    apart: list[Claim] = []
    uniform: list[Claim] = []
    if {NORMAL, DEFAULT} <= set(below):
        what = "weights of the normal start end farther below uniform than those of the default"
        apart.append(_farther(what, below[NORMAL], below[DEFAULT]))
        default = below[DEFAULT]
        uniform.append(SameClaim("weights of the default start end uniform", None, _mean(default), *default.shape))
    if {NORMAL, SCALED} <= set(below):
        what = "weights over word vectors as large as GloVe's end farther below uniform than over MiniLM's"
        apart.append(_farther(what, below[SCALED], below[NORMAL]))
    return {"apart": apart, "uniform": uniform}


def _farther(what: str, first: np.ndarray, second: np.ndarray) -> Claim:
    """The claim that weights [seed text] of the first kind lie farther below uniform than those of the second."""
    seeds = min(len(first), len(second))
    return Claim(what, None, paired_difference_over_runs(first[:seeds], second[:seeds]), seeds, first.shape[1])


def _mean(values: np.ndarray) -> Interval:
    """Of how far below uniform weights lie; entropy says that they cannot lie above."""
    return mean_over_runs(values, NOT_NEGATIVE)
