"""Table 2 summed up over seeds, and what section 4.2 claims: states of the others say more of their words than those of
Base.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict

import numpy as np

from pellucid.attention.weight_tests.states import VOCABULARIES
from pellucid.base.json_text import nan_as_none
from pellucid.results.bootstrap import NOT_NEGATIVE, t_interval
from studies.s4_fragility.information import GROUPINGS
from studies.s4_fragility.paper import TABLE_2
from studies.shared.attention_models import PAPER_NAMES
from studies.shared.claims import Claim
from studies.shared.units import Numbers

Runs = Sequence[Numbers]  # one model's, in the order of their seeds
MORE = ("residual", "tying", "masked_words")  # than Base, says the paper


def information_numbers(paper: str, runs: Runs) -> Numbers:
    """models: variant -> vocabulary -> grouping -> its cell of table 2. paper: the corpus there, "" for none."""
    by_variant = _by_variant(runs)
    return {
        "models": {
            variant: {vocabulary: _cells(of, vocabulary) for vocabulary in VOCABULARIES}
            for variant, of in by_variant.items()
        },
        "claims": [asdict(one) for one in information_claims(paper, by_variant)],
    }


def information_claims(paper: str, by_variant: Mapping[str, Runs]) -> list[Claim]:
    """In nats; of each vocabulary and grouping."""
    tested = []
    for vocabulary in VOCABULARIES:
        for grouping in GROUPINGS:
            base = _by_seed(by_variant.get("base", ()), vocabulary, grouping)
            for variant in MORE:
                other = _by_seed(by_variant.get(variant, ()), vocabulary, grouping)
                if seeds := sorted(base.keys() & other.keys()):
                    words = (
                        f"{vocabulary}, grouped {_way(grouping)}: states of {PAPER_NAMES[variant]} say more of "
                        f"their words than those of Base"
                    )
                    over = t_interval([other[seed] - base[seed] for seed in seeds])
                    tested.append(Claim(words, _of_paper(paper, vocabulary, variant), over, len(seeds)))
    return tested


def _way(grouping: str) -> str:
    return "apart" if grouping == "separate" else "together"


def _of_paper(paper: str, vocabulary: str, variant: str) -> float | None:
    row = TABLE_2.get(paper, {}).get(vocabulary)
    return None if row is None else round(row[variant] - row["base"], 3)


def _by_variant(runs: Runs) -> dict[str, Runs]:
    groups: dict[str, list[Numbers]] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        groups.setdefault(run["variant"], []).append(run)
    return dict(groups)


def _by_seed(runs: Runs, vocabulary: str, grouping: str) -> dict[int, float]:
    cells = {run["seed"]: run["information"][vocabulary].get(grouping) for run in runs}
    return {seed: cell["information"] for seed, cell in cells.items() if cell is not None}


def _cells(runs: Runs, vocabulary: str) -> Numbers:
    """Grouping -> the information with its interval over seeds, and the means of what stands beside it."""
    of = [run["information"][vocabulary] for run in runs]
    return {grouping: _cell([one[grouping] for one in of]) for grouping in GROUPINGS if grouping in of[0]}


def _cell(measured: Runs) -> Numbers:
    shares = [one["information"] / one["entropy"] if one["entropy"] else math.nan for one in measured]
    means = {
        name: float(np.mean([one[name] for one in measured])) for name in ("entropy", "shuffled", "states", "words")
    }
    interval = asdict(t_interval([one["information"] for one in measured], NOT_NEGATIVE))
    return nan_as_none({"information": interval, "share": float(np.mean(shares)), **means})
