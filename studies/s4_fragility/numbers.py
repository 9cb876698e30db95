"""F1 of models with their own weights and with others, probabilities of single units, and the paper's claims about
both.

A measure is a number of column means, so that one interval over seeds and texts serves sums and differences of any
measures.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from pellucid.results.bootstrap import PERCENT, POINTS, Range
from pellucid.results.table import Interval
from studies.s4_fragility.paper import TABLE_1, TABLE_3
from studies.shared.attention_models import PAPER_NAMES, VARIANTS
from studies.shared.claims import Claim, SameClaim, claim_of
from studies.shared.seed_intervals import interval_over_seeds
from studies.shared.units import Numbers

Runs = Sequence[Numbers]  # one model's trainings, in the order of their seeds
REGULARISED = ("tying", "masked_words")
FALLS = {"uniform": 1, "permuted": 2}  # way -> its place in a row of table 1
FEW = 0.02  # of answers, or of the weight
CLAIMS = ("fragile", "per_unit", "same")


@dataclass(frozen=True)
class Measure:
    """columns: a run's part "test" -> [text column]. number: means of columns [... column] -> [...], in points."""

    columns: Callable[[Numbers], np.ndarray]
    number: Callable[[np.ndarray], np.ndarray]


def f1(way: str) -> Measure:
    """F1 of class 1 with the model's "own" weights or others, the mean over draws (corrections.md A4.4, A4.11)."""

    def columns(answers: Numbers) -> np.ndarray:
        labels = _numbers(answers["labels"])
        draws = [_numbers(draw) for draw in answers[way]]
        return np.stack([column for draw in draws for column in (labels * draw, labels + draw)], axis=-1)

    return Measure(columns, _mean_f1)


def _mean_f1(means: np.ndarray) -> np.ndarray:
    """[... 2 x draw] -> [...]: F1 is 2 right / (labels + answers), 0 where there is neither."""
    right, every = means[..., 0::2], means[..., 1::2]
    scores = np.divide(2 * right, every, out=np.zeros_like(right), where=every > 0)
    return np.asarray(100 * scores.mean(-1))


def _per_unit_columns(answers: Numbers) -> np.ndarray:
    right = (_numbers(answers["labels"]) == _numbers(answers["own"][0])).astype(float)
    return np.stack([right * np.array(answers["per_unit"]), right], axis=-1)


def _share(means: np.ndarray) -> np.ndarray:
    return np.asarray(
        100 * np.divide(means[..., 0], means[..., 1], out=np.zeros_like(means[..., 0]), where=means[..., 1] > 0)
    )


OWN = f1("own")
PER_UNIT = Measure(_per_unit_columns, _share)  # mean within a text, then over right answers (corrections.md A4.10)

Term = tuple[float, Runs, Measure]


def combined(terms: Sequence[Term], within: Range | None = None) -> Interval:
    """The sum of factor x measure over terms, with its interval over the seeds that all terms have; texts are
    paired. within: what the sum cannot leave.
    """
    shared = set.intersection(*({run["seed"] for run in runs} for _, runs, _ in terms))
    blocks = [
        np.stack([measure.columns(run["test"]) for run in runs if run["seed"] in shared]) for _, runs, measure in terms
    ]
    ends = np.cumsum([block.shape[-1] for block in blocks])

    def number(means: np.ndarray) -> np.ndarray:
        parts = np.split(means, ends[:-1], axis=-1)
        return sum(
            (factor * measure.number(part) for (factor, _, measure), part in zip(terms, parts, strict=True)),
            start=np.zeros(means.shape[:-1]),
        )

    return interval_over_seeds(np.concatenate(blocks, axis=-1), number, within)


def change(runs: Runs, way: str) -> Interval:
    """How F1 changes when the weights are replaced: below 0 where it falls."""
    return combined([(1, runs, f1(way)), (-1, runs, OWN)], POINTS)


def extra_fall(more: Runs, less: Runs, way: str) -> Interval:
    """How much further F1 falls in one model than in another."""
    return combined([(1, more, OWN), (-1, more, f1(way)), (-1, less, OWN), (1, less, f1(way))])


def shared_seeds(*models: Runs) -> int:
    """How many seeds all models have."""
    return len(set.intersection(*({run["seed"] for run in runs} for runs in models)))


def weight_of(*models: Runs) -> tuple[int, int, str]:
    """What stands beside a verdict on models: shared seeds, judged texts, and trainings whose weights say nothing."""
    counts = [(runs, sum(is_degenerate(run["test"]) for run in runs)) for runs in models]
    silent = [f"{PAPER_NAMES[runs[0]['variant']]} with {count} of {len(runs)} seeds" for runs, count in counts if count]
    beside = f"all weights alike, or one class answered: {'; '.join(silent)}" if silent else ""
    return shared_seeds(*models), len(models[0][0]["test"]["labels"]), beside


def model_numbers(runs: Runs) -> Numbers:
    """One model's row of tables 1 and 3, and what its weights and answers are like."""
    tests = [run["test"] for run in runs]
    draws = np.array([[f1_of_draw(test, draw) for draw in test["permuted"]] for test in tests])
    return {
        "seeds": len(runs),
        "own": asdict(combined([(1, runs, OWN)], PERCENT)),
        **{way: asdict(change(runs, way)) for way in FALLS},
        "deviation": float(draws.std(axis=1, ddof=1).mean()),
        "per_unit": asdict(combined([(1, runs, PER_UNIT)], PERCENT)),
        "per_unit_micro": float(np.mean([_micro(test) for test in tests])),
        "units": float(np.mean([np.mean(test["units"]) for test in tests])),
        "effective": float(np.mean([np.mean(test["effective"]) for test in tests])),
        "class_1": float(np.mean([_numbers(test["own"][0]).mean() for test in tests])),
        "degenerate": [run["seed"] for run in runs if is_degenerate(run["test"])],
        "heaviest": _heaviest(tests),
        "seconds": [round(run["seconds"]) for run in runs],
    }


def is_degenerate(test: Numbers) -> bool:
    """Whether nearly all answers are one class, or nearly all weights of a text equal: then a change of weights says
    nothing.
    """
    of_class_1 = float(_numbers(test["own"][0]).mean())
    shared = float(np.mean(np.array(test["effective"]) / np.array(test["units"])))
    return min(of_class_1, 1 - of_class_1) < FEW or shared > 1 - FEW


def f1_of_draw(test: Numbers, draw: str) -> float:
    """F1 of class 1 of one draw of answers, in points."""
    labels, answers = _numbers(test["labels"]), _numbers(draw)
    return float(_mean_f1(np.stack([labels * answers, labels + answers], axis=-1).mean(0)))


def _micro(test: Numbers) -> float:
    """Table 3 with the units of all right texts averaged at once, in points."""
    right = _numbers(test["labels"]) == _numbers(test["own"][0])
    counts = np.array(test["units"]) * right
    return float(100 * (counts * np.array(test["per_unit"])).sum() / max(counts.sum(), 1))


def _heaviest(tests: Sequence[Numbers]) -> list[list[object]]:
    counts: dict[str, int] = {}
    for test in tests:
        for word, count in test["heaviest"]:
            counts[word] = counts.get(word, 0) + count
    return [[word, count] for word, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:10]]


def claims(paper: str, models: Mapping[tuple[str, str], Runs]) -> dict[str, list[Claim]]:
    """The paper's claims of tables 1 and 3. models: (pooler, variant) -> runs; those that are missing are not
    judged.
    """
    every: dict[str, list[Claim]] = {name: [] for name in CLAIMS}
    for pooler in dict.fromkeys(pooler for pooler, _ in models):
        base = models.get((pooler, "base"))
        for variant in VARIANTS:
            runs = models.get((pooler, variant))
            if base is None or runs is None or not shared_seeds(base, runs):
                continue
            if variant in REGULARISED:
                every["fragile"] += [_fragile(paper, pooler, variant, runs, base, way) for way in FALLS]
                every["per_unit"].append(_per_unit(paper, pooler, variant, runs, base))
            if variant != "base":
                every["same"].append(_same(paper, pooler, variant, runs, base))
        every["same"] += _residual_is_like_concat(pooler, models)
    return every


def _fragile(paper: str, pooler: str, variant: str, runs: Runs, base: Runs, way: str) -> Claim:
    rows = TABLE_1.get(paper, {}).get(pooler)
    points = None if rows is None else round(rows["base"][FALLS[way]] - rows[variant][FALLS[way]], 1)
    words = f"{pooler}: {way} weights cost {PAPER_NAMES[variant]} more F1 than Base"
    return Claim(words, points, extra_fall(runs, base, way), *weight_of(runs, base))


def _per_unit(paper: str, pooler: str, variant: str, runs: Runs, base: Runs) -> Claim:
    rows = TABLE_3.get(paper, {}).get(pooler)
    points = None if rows is None else round(100 * (rows["base"] - rows[variant]), 1)
    words = f"{pooler}: a single word of {PAPER_NAMES[variant]} is less sure of the answer than one of Base"
    return Claim(words, points, combined([(1, base, PER_UNIT), (-1, runs, PER_UNIT)]), *weight_of(runs, base))


def _same(paper: str, pooler: str, variant: str, runs: Runs, base: Runs) -> SameClaim:
    rows = TABLE_1.get(paper, {}).get(pooler, {})
    points = round(rows[variant][0] - rows["base"][0], 1) if variant in rows else None
    words = f"{pooler}: {PAPER_NAMES[variant]} has the F1 of Base"
    return SameClaim(words, points, combined([(1, runs, OWN), (-1, base, OWN)]), *weight_of(runs, base))


def _residual_is_like_concat(pooler: str, models: Mapping[tuple[str, str], Runs]) -> list[Claim]:
    """Section 4.1: results of residual "are consistently comparable to concat"."""
    residual, concat = models.get((pooler, "residual")), models.get((pooler, "concat"))
    if residual is None or concat is None or not shared_seeds(residual, concat):
        return []
    return [
        SameClaim(
            f"{pooler}: {way} weights cost Resid as much F1 as Concat",
            None,
            extra_fall(residual, concat, way),
            *weight_of(residual, concat),
        )
        for way in FALLS
    ]


def claim_records(every: Mapping[str, Sequence[Claim]]) -> Numbers:
    """Claims as JSON, by kind."""
    return {kind: [asdict(one) for one in listed] for kind, listed in every.items()}


def claims_of(numbers: Numbers, kind: str) -> list[Claim]:
    """The claims of a record, with their verdicts; those of the kind "same" say that a difference is almost none."""
    make = SameClaim if kind == "same" else Claim
    return [claim_of(one, make) for one in numbers["claims"][kind]]


def _numbers(digits: str) -> np.ndarray:
    return np.array(list(map(int, digits)))
