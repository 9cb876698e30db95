"""Accuracy after each attack and at few queries, over seeds and texts, and what the paper claims of them."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace

import numpy as np

from pellucid.results.table import Interval
from studies.s0_attacks.tasks import PAPER, PLAIN, SELF, SPANS, attacks_on
from studies.shared.attacked_accuracy import accuracy, difference, percent_right
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.span_sharpness import spans_beside
from studies.shared.study import Records
from studies.shared.units import Numbers

QUERIES = (1, 10, 100)  # and all that the attack took
DRAWN = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)  # of the picture
ORDERS = ("gradient", "text_order", "word_saliency", "pwws")  # which the paper compares with random order
TRIED = 0.5  # the share of texts that an attack must have tried, with each seed, for a verdict on it
Runs = Sequence[Numbers]


def summarise(about: Numbers, records: Records) -> Numbers:
    """The numbers of the page from the finished units."""
    runs = list(records["attacks"].values())
    by_kind: dict[tuple[str, str], list[Numbers]] = {}
    for run in sorted(runs, key=lambda run: run["seed"]):
        by_kind.setdefault((run["victim"], run["attack"]), []).append(run)
    return {
        "about": about,
        "victims": {
            victim: [asdict(_before(of))] for victim in (SELF, PLAIN) if (of := _of(records["victims"], victim))
        },
        "rows": [_row(victim, attack, of) for (victim, attack), of in by_kind.items()],
        "claims": [asdict(one) for one in _claims(about["task"], by_kind, _of(records["victims"], SELF))],
        "shown": [
            {"attack": run["attack"], "victim": run["victim"], **one}
            for run in runs
            if run["seed"] == 0 and run["attack"] in ("pwws", SPANS)
            for one in run["shown"][:4]
        ],
        "missing": _missing(about, by_kind),
        "machines": count_machines([*records["victims"].values(), *runs]),
    }


def _of(victims: Mapping[str, Numbers], victim: str) -> list[Numbers]:
    return [one for one in victims.values() if one["victim"] == victim]


def _before(victims: Runs) -> Interval:
    return percent_right([one["right"] for one in victims])


def _row(victim: str, attack: str, runs: Runs) -> Numbers:
    texts = [one for run in runs for one in run["texts"] if one["ending"] != "wrong before"]
    fooled = [one for one in texts if one["ending"] == "success"]
    return {
        "victim": victim,
        "attack": attack,
        "seeds": [run["seed"] for run in runs],
        "after": asdict(accuracy(runs, np.inf)),
        "at": [asdict(accuracy(runs, queries)) for queries in QUERIES],
        "queries": _mean(texts, "queries"),
        "edited": _mean(fooled, "edited"),
        "similarity": _mean(fooled, "similarity"),
        "nothing_to_edit": sum(one["ending"] == "nothing to edit" for one in texts),
        "n_attacked": len(texts),
        "curve": [[np.log10(queries), asdict(accuracy(runs, queries))] for queries in DRAWN],
        "seconds": sum(run["seconds"] for run in runs),
    }


def _mean(texts: Runs, name: str) -> float | None:
    values = [one[name] for one in texts if one[name] is not None]
    return float(np.mean(values)) if values else None


def _claims(task: str, by_kind: Mapping[tuple[str, str], Runs], victims: Runs) -> list[Claim]:
    """The claims that were run; beside each what the victim's spans are like, and what was never attacked."""
    paper = PAPER.get(task, {})
    tested = [
        _claim(by_kind, f"{attack} leaves fewer right answers than random order", "random", attack, paper)
        for attack in ORDERS
    ]
    for queries in (np.inf, *QUERIES[1:]):
        limit = "" if queries == np.inf else f", {queries} queries"
        words = f"the span attack leaves fewer right answers than pwws{limit}"
        tested.append(_claim(by_kind, words, "pwws", SPANS, paper if queries == np.inf else {}, queries))
    spans = spans_beside([one.get("sharpness") for one in victims])
    return [replace(one, beside=f"{one.beside}; {spans}") for one in tested if one is not None]


def _claim(
    by_kind: Mapping[tuple[str, str], Runs],
    words: str,
    weaker: str,
    stronger: str,
    paper: Mapping[str, float],
    queries: float = np.inf,
) -> Claim | None:
    one, other = by_kind.get((SELF, weaker), ()), by_kind.get((SELF, stronger), ())
    seeds = sorted({run["seed"] for run in one} & {run["seed"] for run in other})
    if not seeds:
        return None
    weak, strong = ([run for run in runs if run["seed"] in seeds] for runs in (one, other))
    of_paper = round(paper[weaker] - paper[stronger], 2) if paper else None
    over, beside = difference(weak, strong, queries), f"{never_tried(strong):.0%} never tried"
    least = 1 - max(never_tried([run]) for run in strong)
    lacks = "" if least >= TRIED else f"of one seed's texts only {least:.0%} were tried"
    return Claim(words, of_paper, over, len(seeds), len(strong[0]["texts"]), beside, lacks)


def never_tried(runs: Runs) -> float:
    """The share of the attacked texts in which the attack had nothing to edit."""
    attacked = [one for run in runs for one in run["texts"] if one["ending"] != "wrong before"]
    return sum(one["ending"] == "nothing to edit" for one in attacked) / max(len(attacked), 1)


def _missing(about: Numbers, by_kind: Mapping[tuple[str, str], Runs]) -> list[str]:
    wanted = [(victim, attack) for victim in (SELF, PLAIN) for attack in attacks_on(victim)]
    seeds = {kind: {run["seed"] for run in by_kind.get(kind, ())} for kind in wanted}
    return models_with_seeds(
        {
            f"{attack} on {victim}": [seed for seed in range(about["seeds"]) if seed not in seeds[victim, attack]]
            for victim, attack in wanted
        }
    )
