"""How often each method's best source word is the right one, over seeds and pairs, and who is better than whom."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import SHARE
from pellucid.results.interval import Interval
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.units import Numbers
from studies.translation_links.corpora import PLANTED

LEARNT = 0.9  # share of planted test pairs that are translated exactly: below, links say nothing of the model
SPANS, PLACE, CHANCE = "span_attention", "same place", "chance"
WORDS, RIGHT, RANK, AT_PLACE, BY_CHANCE, CHANCE_RANK = range(6)  # columns of `link_counts`
BASELINES = {PLACE: AT_PLACE, CHANCE: BY_CHANCE}


def summarise(runs: Sequence[Numbers], seeds: int) -> Numbers:
    """The numbers of result.json, corpus by corpus; seeds that have not learnt the planted translation are left out."""
    by_corpus: dict[str, list[Numbers]] = {}
    for run in runs:
        by_corpus.setdefault(run["corpus"], []).append(run)
    return {
        "corpora": {name: _corpus(name, of) for name, of in by_corpus.items()},
        "missing": models_with_seeds(
            {name: sorted(set(range(seeds)) - {run["seed"] for run in of}) for name, of in by_corpus.items()}
        ),
        "machines": count_machines(runs),
    }


def _corpus(name: str, runs: Sequence[Numbers]) -> Numbers:
    learnt = [run for run in runs if name != PLANTED or run["exact"] >= LEARNT]
    first = np.array(runs[0]["methods"][SPANS])
    numbers = {
        "exact": [run["exact"] for run in runs],
        "carried": [run["carried"] for run in runs],
        "not_learnt": [run["seed"] for run in runs if run not in learnt],
        "learnt": len(learnt),
        "pairs": len(first),
        "words": int(first[:, WORDS].sum()),
        "left_out": runs[0]["left_out"],
    }
    shown = learnt or list(runs)
    columns = {title: _columns(shown, title) for title in (*shown[0]["methods"], *BASELINES)}
    return numbers | {
        "methods": {
            title: {"precision": asdict(_share(of)), "rank": _rank(shown, title)} for title, of in columns.items()
        },
        "claims": [asdict(one) for one in _claims(name, columns, len(learnt))] if learnt else [],
    }


def _columns(runs: Sequence[Numbers], title: str) -> np.ndarray:
    """[seed pair 2]: linked words, and how many best links are right."""
    counts = np.array([run["methods"].get(title, run["methods"][SPANS]) for run in runs])
    return counts[..., [WORDS, BASELINES.get(title, RIGHT)]]


def _rank(runs: Sequence[Numbers], title: str) -> float | None:
    """The mean rank of the best linked word, over all seeds; None of the same place, which ranks nothing."""
    if title == PLACE:
        return None
    counts = np.array([run["methods"].get(title, run["methods"][SPANS]) for run in runs])
    column = CHANCE_RANK if title == CHANCE else RANK
    return float(counts[..., column].sum() / counts[..., WORDS].sum())


def _share(columns: np.ndarray) -> Interval:
    return interval_over_seeds(columns, lambda means: means[..., 1] / means[..., 0], SHARE)


def _claims(name: str, columns: dict[str, np.ndarray], seeds: int) -> list[Claim]:
    """That the translator's own spans find the links more often than everything else."""
    own = columns[SPANS]
    return [
        Claim(f"{name}: span attention finds more links than {title}", None, _lead(own, other), seeds, own.shape[1])
        for title, other in columns.items()
        if title != SPANS
    ]


def _lead(one: np.ndarray, other: np.ndarray) -> Interval:
    """Points by which the first has more best links right."""
    both = np.concatenate([one, other], -1)
    return interval_over_seeds(
        both, lambda means: 100 * (means[..., 1] / means[..., 0] - means[..., 3] / means[..., 2])
    )
