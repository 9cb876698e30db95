"""BLEU of each variant over its seeds, and the difference of span and plain over sentences and seeds."""

from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from pellucid.results.bootstrap import resampled_means, t_interval
from pellucid.results.interval import Interval
from pellucid.writing.bleu import bleu_of_means
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.span_sharpness import spans_beside
from studies.shared.units import Numbers

PAPER = 0.5  # points of BLEU on IWSLT14, 28.4 -> 28.9
PARTS = {
    "half": "λ = 0.5 is better",
    "one": "λ = 1 is better",
    "entropy": "the entropy penalty is better",
    "uniform": "equal weights are better",
    "static": "one query for all steps is better",
    "unscaled_entropy": "the entropy penalty is better",
    "unscaled_static": "one query for all steps is better",
}  # variant -> what a claim says of it
LAYERS = ("span", "unscaled")  # what the parts are changes of
DRAWS, Z = 1000, 1.96


def summarise(about: Numbers, runs: Sequence[Numbers]) -> Numbers:
    """The numbers of the page from the finished units."""
    by_variant = {
        name: sorted((run for run in runs if run["variant"] == name), key=lambda run: run["seed"])
        for name in about["seeds"]
    }
    return {
        "about": about,
        "signature": next(iter(runs[0]["tests"].values()))["signature"],
        "variants": {name: _variant(of) for name, of in by_variant.items() if of},
        "claims": [asdict(one) for one in _claims(about, by_variant)],
        "missing": models_with_seeds(
            {
                name: [seed for seed in range(count) if seed not in {run["seed"] for run in by_variant[name]}]
                for name, count in about["seeds"].items()
            }
        ),
        "machines": count_machines(runs),
    }


def _variant(runs: Sequence[Numbers]) -> Numbers:
    return {
        "tests": {
            name: {
                "bleu": [run["tests"][name]["bleu"] for run in runs],
                "chrf": [run["tests"][name]["chrf"] for run in runs],
            }
            for name in runs[0]["tests"]
        },
        "dev_loss": [min(epoch["dev_loss"] for epoch in run["history"]) for run in runs],
        "spans": [run["spans"] for run in runs if run["spans"] is not None],
        "first": runs[0]["tests"][next(iter(runs[0]["tests"]))]["first"],
    }


def _claims(about: Numbers, by_variant: dict[str, list[Numbers]]) -> list[Claim]:
    """That spans help, on each test; and what each change of the layer does, on the first one."""
    first = next(iter(about["tests"]))
    layer = next(name for name in LAYERS if name in about["seeds"])
    of_parts = {
        f"{first}: {words} than spans as they are": (part, layer, first)
        for part, words in PARTS.items()
        if part in about["seeds"]
    }
    of_layer = {
        f"{name}: the translator with spans is better than its plain twin": (layer, "plain", name)
        for name in about["tests"]
    }
    claims = [
        _claim(by_variant, words, PAPER if other == "plain" else None, one, other, test)
        for words, (one, other, test) in (of_layer | of_parts).items()
    ]
    return [claim for claim in claims if claim is not None]


def _claim(
    by_variant: dict[str, list[Numbers]], words: str, paper: float | None, one: str, other: str, test: str
) -> Claim | None:
    """That one variant is better than another, of the seeds that both have; None without any."""
    runs = list(zip(*zip(by_variant.get(one, []), by_variant.get(other, []), strict=False), strict=True))
    if not runs:
        return None
    sides = [[run["tests"][test]["statistics"] for run in side] for side in runs]
    over = difference_over_seeds(*sides)
    return Claim(words, paper, over, len(runs[0]), len(sides[0][0]), _spans_beside(runs[0]))


def _spans_beside(runs: Sequence[Numbers]) -> str:
    """How many spans share a step's weight, by seed; "" of a translator without spans."""
    return spans_beside([run["spans"] for run in runs]) if all(_counted(run) for run in runs) else ""


def _counted(run: Numbers) -> bool:
    return bool(run["spans"]) and run["spans"]["effective_spans"] is not None


def difference_over_seeds(one: Sequence[Sequence], other: Sequence[Sequence]) -> Interval:
    """BLEU of one less BLEU of the other, mean over seeds, with a 95 % interval over seeds and sentences.

    one, other: [seed sentence statistic]. The half width is sqrt(a^2 + b^2): a of a t-interval over the seeds, b from
    draws of sentences, the same for all models. Of one seed only sentences vary.
    """
    rows = [np.array(of, dtype=np.float64) for of in (*one, *other)]
    count = len(rows[0])
    signs = [1 / len(one)] * len(one) + [-1 / len(other)] * len(other)
    drawn = np.split(resampled_means(np.concatenate(rows, 1), DRAWS, 0), len(rows), axis=1)
    of_draws = sum(sign * bleu_of_means(means, count) for sign, means in zip(signs, drawn, strict=True))
    scores = np.array([bleu_of_means(of.mean(0)[None], count)[0] for of in rows])
    of_seeds = t_interval(scores[: len(one)] - scores[len(one) :])
    by_seed = (of_seeds.high - of_seeds.low) / 2 if len(one) > 1 else 0.0
    half = float(np.hypot(by_seed, Z * np.std(of_draws, ddof=1)))
    return Interval(of_seeds.mean, of_seeds.mean - half, of_seeds.mean + half)
