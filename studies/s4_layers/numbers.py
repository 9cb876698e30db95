"""Each depth's F1 and what other weights cost it, and the claims of appendix B."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict

from pellucid.results.table import Interval
from studies.s4_fragility.numbers import (
    FALLS,
    OWN,
    Runs,
    combined,
    extra_fall,
    f1,
    model_numbers,
    shared_seeds,
    weight_of,
)
from studies.s4_fragility.paper import TABLE_6
from studies.s4_fragility.summary import missing_seeds
from studies.shared.attention_models import PAPER_NAMES
from studies.shared.claims import Claim
from studies.shared.computing_environment import count_machines
from studies.shared.markdown import models_with_seeds
from studies.shared.units import Numbers

Models = Mapping[tuple[int, str], Runs]  # (layers, variant) -> its trainings, in the order of their seeds


def summarise(about: Numbers, runs: Sequence[Numbers]) -> Numbers:
    """Of finished units; models: "layers variant" -> its row."""
    models: dict[tuple[int, str], list[Numbers]] = {}
    for run in sorted(runs, key=lambda run: (run["layers"], run["seed"])):
        models.setdefault((run["layers"], run["variant"]), []).append(run)
    wanted = {(layers, variant) for layers in about["layers"] for _, variant in models}
    return {
        "about": about,
        "models": {f"{layers} {variant}": model_numbers(of) for (layers, variant), of in models.items()},
        "claims": [asdict(one) for one in claims(models, paper=about["task"] == "sst2")],
        "missing": models_with_seeds(
            {
                f"{PAPER_NAMES[variant]}, layers: {layers}": missing_seeds(
                    about["seeds"], models.get((layers, variant), ())
                )
                for layers, variant in sorted(wanted)
            }
        ),
        "machines": count_machines(runs),
    }


def claims(models: Models, paper: bool) -> list[Claim]:
    """Appendix B: the plain model gets more robust with layers, and what the others have over it shrinks."""
    tested = []
    depths = sorted({layers for layers, _ in models if layers > 1})
    for layers in depths:
        tested += [one for way in FALLS for one in _more_robust(models, layers, way, paper)]
    for variant in ("tying", "masked_words"):
        for layers in depths:
            tested += [one for way in FALLS for one in _diminishing(models, variant, layers, way, paper)]
    return tested


def _more_robust(models: Models, layers: int, way: str, paper: bool) -> list[Claim]:
    one, deep = models.get((1, "base")), models.get((layers, "base"))
    if one is None or deep is None or not shared_seeds(one, deep):
        return []
    points = _fall(layers, "base", way) - _fall(1, "base", way) if paper else None
    words = f"{way} weights cost Base of {layers} layers less F1 than Base of one"
    return [Claim(words, _rounded(points), extra_fall(one, deep, way), *weight_of(one, deep))]


def _diminishing(models: Models, variant: str, layers: int, way: str, paper: bool) -> list[Claim]:
    four = [models.get((depth, name)) for depth in (1, layers) for name in (variant, "base")]
    sides = [runs for runs in four if runs is not None]
    if len(sides) < len(four) or not shared_seeds(*sides):
        return []
    points = None
    if paper:
        gains = [_fall(depth, "base", way) - _fall(depth, variant, way) for depth in (1, layers)]
        points = gains[0] - gains[1]
    words = f"what {way} weights cost {PAPER_NAMES[variant]} more than Base is less with {layers} layers than with one"
    return [Claim(words, _rounded(points), _extra_of_one_layer(sides, way), *weight_of(*sides))]


def _extra_of_one_layer(sides: Sequence[Runs], way: str) -> Interval:
    """(variant's fall - Base's) with one layer less the same with more; sides: variant, Base of one layer, then of
    more.
    """
    factors = (1, -1, -1, 1)
    falls = zip(factors, sides, strict=True)
    return combined([term for factor, runs in falls for term in ((factor, runs, OWN), (-factor, runs, f1(way)))])


def _fall(layers: int, variant: str, way: str) -> float:
    return TABLE_6[layers][variant][FALLS[way]]


def _rounded(points: float | None) -> float | None:
    return None if points is None else round(points, 1)
