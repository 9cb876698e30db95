"""How many points on the path integrated gradients need: by our rules, by captum's, and by rules that know more than a
user can.

    python -m benchmarks.path_rules       # two minutes; writes benchmarks/results/path_rules.json and docs/path-rules.md

Every piece's integrand is evaluated at 24 Gauss-Legendre points in each of nine intervals, which halve towards the
blank text. Between them it is the polynomial through these points, so all rules are tried on one function without
another pass.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.polynomial.legendre import leggauss
from scipy.interpolate import BarycentricInterpolator

import pellucid
from benchmarks.attribution.models import folder_of
from benchmarks.attribution.reading import Reader, reader_of
from benchmarks.attribution.results import machine_of, machine_words, publish, versions
from benchmarks.attribution.table import listed
from benchmarks.attribution.workload import texts_of
from pellucid.attribution.shared.paths import nodes_of

ROOT = Path(__file__).parents[1]
ENDS = np.array([0.0, *(2.0**-power for power in range(8, -1, -1))])  # of the intervals
WITHIN = 24  # points in an interval
COUNTS = (8, 10, 12, 16, 20, 25, 32, 40, 50)
THEIRS = (10, 20, 25, 50)  # captum's points, whose errors shall be had with fewer
MIDDLES, WIDTHS = np.arange(0, 1.01, 0.05), (0.05, 0.1, 0.2, 0.4, 0.8, 2.0)
BORDERS = np.arange(0.1, 0.91, 0.1)  # between two intervals
SHARES = np.arange(0.2, 0.81, 0.1)  # of the points in the first of them
Rule = Callable[[int], tuple[np.ndarray, np.ndarray]]  # count -> points in [0, 1] and their weights


class Integrand:
    """What every piece of one text gets at a place of the path. values: [interval point piece]."""

    def __init__(self, values: np.ndarray) -> None:
        self._intervals = [BarycentricInterpolator(_points(one), of_interval) for one, of_interval in enumerate(values)]
        weights = np.diff(ENDS)[:, None] * leggauss(WITHIN)[1] / 2
        self.integral = (weights[..., None] * values).sum((0, 1))

    def __call__(self, point: float) -> np.ndarray:
        """[piece]"""
        number = int(np.searchsorted(ENDS, point, side="right")) - 1
        return np.asarray(self._intervals[min(max(number, 0), len(self._intervals) - 1)](point))

    def error(self, points: np.ndarray, weights: np.ndarray) -> float:
        """Of a rule: the largest difference of a piece, relative to the largest score."""
        return self.error_of(weights @ np.stack([self(point) for point in points]))

    def error_of(self, scores: np.ndarray) -> float:
        """The largest difference of a piece's score, relative to the largest score."""
        return float(np.abs(scores - self.integral).max() / np.abs(self.integral).max())


def _points(interval: int) -> np.ndarray:
    start, end = ENDS[interval : interval + 2]
    return (start + end) / 2 + (end - start) / 2 * leggauss(WITHIN)[0]


def integrand_of(reader: Reader, text: str) -> Integrand:
    """The predicted class's gradients on the way from the blank text to the text, times the difference of both."""
    read = reader.read([text])
    words, blank = reader.words(read.ids), reader.words(reader.blank(read.ids))
    values = []
    for points in map(_points, range(len(ENDS) - 1)):
        place = torch.from_numpy(points)[:, None, None].to(words)
        at = torch.lerp(blank, words, place).requires_grad_()
        logits = reader.by_words(at, *(one.expand(len(points), -1) for one in read.rest))
        (gradient,) = torch.autograd.grad(logits[:, read.labels].sum(), at)
        values.append(((words - blank) * gradient).sum(-1).double().numpy())
    return Integrand(np.stack(values))


def asin_map(count: int, share: float = 0.9) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre points spread more evenly (Kosloff and Tal-Ezer 1993; Hale and Trefethen 2008)."""
    points, weights = leggauss(count)
    density = share / np.sqrt(1 - (share * points) ** 2) / np.arcsin(share)
    return (np.arcsin(share * points) / np.arcsin(share) + 1) / 2, weights * density / 2


def tan_map(count: int, middle: float, width: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre points gathered around a place of the path (Bayliss and Turkel 1992)."""
    points, weights = leggauss(count)
    low, high = np.arctan(-middle / width), np.arctan((1 - middle) / width)
    angles = low + (high - low) * (points + 1) / 2
    return middle + width * np.tan(angles), weights / 2 * (high - low) * width / np.cos(angles) ** 2


def _ours(rule: str, count: int) -> tuple[np.ndarray, np.ndarray]:
    points, weights = nodes_of(rule, count)  # type: ignore[arg-type]
    return points.numpy(), weights.numpy()


RULES: dict[str, Rule] = {
    "gauss_legendre (captum's)": partial(_ours, "gauss_legendre"),
    "midpoint (our default)": partial(_ours, "midpoint"),
    "Gauss-Legendre, spread more evenly": asin_map,
}
BEST = "Gauss-Legendre, gathered where the truth says"
HALVED = "Gauss-Legendre in two intervals, cut where the truth says"


def in_two(count: int, border: float, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Gauss-Legendre points in two intervals. share: of the points in the first."""
    first = min(count - 1, max(1, round(share * count)))
    rules = [(leggauss(first), 0.0, border), (leggauss(count - first), border, 1.0)]
    points = [(start + end) / 2 + (end - start) / 2 * on_two for (on_two, _), start, end in rules]
    weights = [(end - start) / 2 * of_rule for (_, of_rule), start, end in rules]
    return np.concatenate(points), np.concatenate(weights)


BY_TRUTH: dict[str, Sequence[Rule]] = {
    BEST: [partial(tan_map, middle=middle, width=width) for middle in MIDDLES for width in WIDTHS],
    HALVED: [partial(in_two, border=border, share=share) for border in BORDERS for share in SHARES],
}


def errors_of(integrands: Sequence[Integrand]) -> dict[str, dict[int, float]]:
    """rule -> count of points -> mean error over the texts; of several rules the smallest error of each text."""
    candidates = {**{name: [rule] for name, rule in RULES.items()}, **BY_TRUTH}
    return {
        name: {
            count: _mean([min(one.error(*rule(count)) for rule in of_name) for one in integrands]) for count in COUNTS
        }
        for name, of_name in candidates.items()
    }


def _mean(values: Sequence[float]) -> float:
    return float(np.mean(values))


def needed(errors: Mapping[str, Mapping[int, float]]) -> dict[str, dict[int, int | None]]:
    """rule -> captum's points -> the fewest of the rule's with at most captum's error there; None: not with the counts
    tried.
    """
    theirs = errors["gauss_legendre (captum's)"]
    return {
        name: {
            their: next((count for count, error in of_rule.items() if error <= theirs[their]), None) for their in THEIRS
        }
        for name, of_rule in errors.items()
    }


def as_page(results: dict[str, Any]) -> str:
    """The page in Markdown."""
    machine, errors = results["made_on"], results["errors"]
    of_counts = [(name, *(f"{100 * of_rule[count]:.3g} %" for count in COUNTS)) for name, of_rule in errors.items()]
    of_needed = [
        (name, *("–" if of_rule[their] is None else str(of_rule[their]) for their in THEIRS))
        for name, of_rule in results["needed"].items()
    ]
    return (
        "# How many points integrated gradients need\n\nMade by `python -m benchmarks.path_rules`; not written by "
        f"hand. On {machine_words(machine)}: all-MiniLM-L6-v2 with two classes, {results['n_texts']} texts of "
        "the package's own corpus. The error of a text is the largest difference of a piece's score, relative to the "
        "largest score; the mean over texts counts. The truth is a composite rule of 216 points.\n\n## Error at a "
        "number of points\n\n"
        + listed(of_counts, ("rule", *map(str, COUNTS)))
        + "\n\n## Fewest of these numbers with captum's error at its own\n\n"
        + listed(of_needed, ("rule", *(f"captum's {count}" for count in THEIRS)))
        + "\n\n“Where the truth says” is no rule that anyone can use: for each text and number, of "
        f"{len(BY_TRUTH[BEST])} ways to gather the points or of {len(BY_TRUTH[HALVED])} ways to cut the path, the one "
        f"with the smallest error counts. A rule that has to find these places itself needs more.\n"
    )


def main() -> None:
    """Measure, keep the numbers, write the page."""
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    torch.set_num_threads(1)
    reader = reader_of(folder_of("minilm", ROOT / "runs" / "benchmark"), "cpu")
    own = [example.segments[0] for example in pellucid.examples("pocket", "test")[:8]]
    texts = [*texts_of("few"), *own]
    errors = errors_of([integrand_of(reader, text) for text in texts])
    results = {
        "made_on": machine_of("cpu"),
        "versions": versions(),
        "n_texts": len(texts),
        "errors": errors,
        "needed": needed(errors),
    }
    publish(results, "path_rules", as_page(results), "path-rules")


if __name__ == "__main__":
    main()
