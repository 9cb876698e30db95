"""How far other random draws would move scores."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import at_least
from pellucid.run.batch import Operator, Row
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable
from pellucid.text.units import Kind, Units, coarsen

TRUSTED_ERROR = 0.1
NEVER = 1e-12


def standard_error(first: np.ndarray, second: np.ndarray) -> float:
    """The standard error of scores [player], root mean square over players, from those of two halves of the draws."""
    return float(np.sqrt(np.mean((first - second) ** 2)) / 2) if len(first) else 0.0


def relative_error(error: float, scores: np.ndarray) -> float:
    """A standard error as a share of the largest score."""
    return error / max(float(np.abs(scores).max(initial=0.0)), NEVER) if error else 0.0


def stability(first: np.ndarray, second: np.ndarray) -> float:
    """The correlation in [-1, 1] of scores [player] that two runs with other draws would have, from two halves of one.

    Halves have half the draws; the formula of Spearman and Brown says what twice as many would give.
    """
    if len(first) < 2 or first.std() < NEVER or second.std() < NEVER:
        return 1.0 if np.allclose(first, second) else 0.0
    halves = float(np.corrcoef(first, second)[0, 1])
    return 2 * halves / (1 + halves) if halves > 0 else halves


def noise_caveats(relative: float, advice: str, allowed: float = TRUSTED_ERROR) -> tuple[str, ...]:
    """What to say when other draws would move scores by more than the allowed share of the largest."""
    if relative <= allowed:
        return ()
    return (
        f"Other random draws would move scores by about {relative:.0%} of the largest score; {advice} before trusting "
        "smaller differences.",
    )


# A text's words as players of a game: coalitions, what the model answers to them, and linear models of it.

# Coalitions evaluated at once, of all texts together, so that memory does not grow with their number; more where packs
# are large.
MOST_ROWS = 4096


@dataclass(frozen=True)
class Games:
    """One game a text. units: what is scored in each text; owners: [piece] the unit that each piece belongs to."""

    run: ForwardPass
    target: Explainable
    operator: Operator
    units: tuple[Units, ...]
    owners: tuple[np.ndarray, ...]

    @property
    def sizes(self) -> list[int]:
        """Each text's number of players: its units without special tokens."""
        return [len(units.content) for units in self.units]

    def values(self, coalitions: Sequence[np.ndarray]) -> list[np.ndarray]:
        """For each text [coalition] float64: the target's value; coalitions: a text's [coalition player] bool each,
        some of them equal.
        """
        most = max(MOST_ROWS, self.run.scheduler.tokens // 2)
        values = [np.zeros(len(of_text)) for of_text in coalitions]
        for parts in _parts([len(of_text) for of_text in coalitions], most):
            variants: list[list[Row]] = [[] for _ in coalitions]
            for index, part in parts.items():
                variants[index] = self._rows(index, coalitions[index][part])
            computed = self.run.evaluate(variants, self.target)
            for index, part in parts.items():
                values[index][part] = computed[index].double().cpu().numpy()
        return values

    def _rows(self, example: int, coalitions: np.ndarray) -> list[Row]:
        """A row for each coalition of a text, [coalition player] bool."""
        is_absent = np.zeros((len(coalitions), len(self.units[example])), dtype=bool)
        is_absent[:, list(self.units[example].content)] = ~coalitions
        return self.run.batch.edited_rows(example, is_absent[:, self.owners[example]], self.operator)

    def scores(self, players: Iterable[np.ndarray]) -> tuple[Tensor, ...]:
        """For each text's scores [player] those of its units [unit]: 0 at special tokens."""
        return tuple(map(_unit_scores, self.units, players))


def _parts(counts: Sequence[int], most: int) -> Iterator[dict[int, slice]]:
    """The coalitions of all texts in turn, so many at once: number of a text -> which of its coalitions; counts: of
    each text.
    """
    parts: dict[int, slice] = {}
    room = most
    for index, count in enumerate(counts):
        first = 0
        while first < count:
            last = min(count, first + room)
            parts[index], room, first = slice(first, last), room - (last - first), last
            if not room:
                yield parts
                parts, room = {}, most
    if parts:
        yield parts


def _unit_scores(units: Units, players: np.ndarray) -> Tensor:
    scores = torch.zeros(len(units), dtype=torch.float64)
    scores[list(units.content)] = torch.from_numpy(np.asarray(players, dtype=np.float64))
    return scores


def games(run: ForwardPass, target: Explainable, unit: Kind, operator: Operator) -> Games:
    """The games of a batch, whose players are the texts' units of this kind."""
    coarsened = [
        coarsen(units, unit, example.segments)
        for units, example in zip(run.batch.units, run.batch.examples, strict=True)
    ]
    owners = tuple(np.array(owner, dtype=np.int64) for _, owner in coarsened)
    return Games(run, target, operator, tuple(units for units, _ in coarsened), owners)


def all_coalitions(players: int) -> np.ndarray:
    """[2 ** players, player] bool: row number k has the players of k's binary digits, the lowest first."""
    return (np.arange(1 << players)[:, None] >> np.arange(players)) % 2 == 1


# Random coalitions of units: their sizes are spread evenly, and their members are drawn at random.
#
# Each text has one sequence of draws: the first 50 of 100 draws are those of a run with 50.

GOLDEN = (5**0.5 - 1) / 2  # multiples of it, less their whole part, fill [0, 1) evenly however many there are
AT_ONCE = 64  # coalitions of one text


def even_numbers(generator: torch.Generator) -> Iterator[float]:
    """An endless sequence in [0, 1) from a random start: each number is uniform, and all are spread more evenly than by
    chance.
    """
    fraction = float(torch.rand((), generator=generator, dtype=torch.float64))
    while True:
        yield fraction
        fraction = (fraction + GOLDEN) % 1


def coalitions(
    players: int, generator: torch.Generator, sizes_at: Callable[[np.ndarray], np.ndarray], fewest: int = 0
) -> Iterator[np.ndarray]:
    """An endless sequence of coalitions [player] bool. sizes_at: [number] in [0, 1) -> how many players are present;
    sets of a size are equally likely. fewest: smaller ones are left out.
    """
    numbers = even_numbers(generator)
    while True:
        sizes = sizes_at(np.fromiter(islice(numbers, AT_ONCE), dtype=np.float64))
        keys = torch.rand(AT_ONCE, players, generator=generator, dtype=torch.float64).numpy()
        ranked = np.c_[np.sort(keys, axis=1), np.ones(AT_ONCE)]  # all keys are below 1
        present = keys < ranked[np.arange(AT_ONCE), sizes][:, None]
        yield from present[sizes >= fewest]


# A weighted ridge regression that predicts the target's value from which units are present, and how far to trust it.

NOTHING = 1e-12  # a penalty that is smaller beside the samples is lost in rounding


@dataclass(frozen=True)
class Sample:
    """Coalitions of one text: present [sample player] bool, weights [sample].

    fixed: how many of the first ones are not drawn at random.
    """

    present: np.ndarray
    weights: np.ndarray
    fixed: int

    @property
    def exact(self) -> bool:
        """Whether no coalition was drawn at random."""
        return self.fixed == len(self.present)


Fit = tuple[np.ndarray, dict[str, float]]  # a text's scores [player] and their diagnostics
Question = tuple[np.ndarray, Callable[[np.ndarray], Fit]]  # coalitions, and what fits scores to the target's values


def fitted(
    game: Games,
    n_samples: int,
    tolerance: float | None,
    most: int,
    question: Callable[[int, int], Question],
) -> Scores:
    """The scores of every text by a fit to its coalitions.

    tolerance: None, or the `relative_error` at which a text is done: the coalitions of the others are doubled from
    n_samples until they are done, or there would be more than `most`. question: (number of a text, how many coalitions)
    -> these and their fit. Many coalitions contain the fewer ones as far as the method allows, and none is read twice.
    """
    if tolerance is not None:
        at_least("tolerance", tolerance, 1e-6)
    fits: list[Fit] = [(np.zeros(0), {})] * len(game.sizes)
    texts, count = list(range(len(fits))), n_samples
    while texts:
        plans = {text: question(text, count) for text in texts}
        nothing = [np.zeros((0, size), dtype=bool) for size in game.sizes]
        values = game.values([plans[text][0] if text in plans else none for text, none in enumerate(nothing)])
        for text, (_, fit) in plans.items():
            fits[text] = fit(values[text])
        count *= 2
        if tolerance is None or count > most:
            break
        texts = [text for text in texts if fits[text][1]["relative_error"] > tolerance]
    return Scores(
        game.scores(scores for scores, _ in fits),
        units=game.units,
        diagnostics=tuple(diagnostics for _, diagnostics in fits),
        caveats=tuple(sample_caveats(diagnostics, tolerance) for _, diagnostics in fits),
    )


def surrogate(sample: Sample, values: np.ndarray, alpha: float) -> Fit:
    """The ridge regression of a sample's values [sample] on which units are present, with penalty alpha.

    Diagnostics: `exact`, `n_samples`, `fit_r2`, and from two halves of the draws `standard_error` (root mean square
    over players), `relative_error` (that divided by the largest score) and `stability` (the correlation with the scores
    of another run).
    """
    scores, intercept = ridge(sample.present, values, sample.weights, alpha)
    halves = [_half(sample, values, alpha, offset) for offset in (0, 1)]
    error = 0.0 if sample.exact else standard_error(*halves)
    return (
        scores,
        {
            "exact": float(sample.exact),
            "n_samples": float(len(values)),
            "fit_r2": fit_r2(values, intercept + sample.present @ scores, sample.weights),
            "standard_error": error,
            "relative_error": relative_error(error, scores),
            "stability": 1.0 if sample.exact else stability(*halves),
        },
    )


def _half(sample: Sample, values: np.ndarray, alpha: float, offset: int) -> np.ndarray:
    """The scores by every second drawn coalition, each with twice its weight, so that alpha counts as before."""
    half = np.r_[: sample.fixed, sample.fixed + offset : len(values) : 2]
    doubled = np.where(np.arange(len(values)) < sample.fixed, 1, 2) * sample.weights
    return ridge(sample.present[half], values[half], doubled[half], alpha)[0]


def ridge(present: np.ndarray, values: np.ndarray, weights: np.ndarray, alpha: float) -> tuple[np.ndarray, float]:
    """The coefficients [player] and the intercept that minimise the weighted squares plus alpha times the coefficients'
    squares.

    Of several that do, with alpha 0, the shortest coefficients. scikit-learn's `Ridge` gives the same; for hundreds of
    samples of tens of units it takes ten times as long, which counts where a network reads them in the time of a fit.
    """
    share = weights / (weights.sum() or 1.0)
    mean, level = share @ present, float(share @ values)
    scores = _solved(np.sqrt(weights)[:, None] * (present - mean), np.sqrt(weights) * (values - level), alpha)
    return scores, level - float(mean @ scores)


def _solved(matrix: np.ndarray, values: np.ndarray, alpha: float) -> np.ndarray:
    """The x that minimises |matrix x - values|² + alpha |x|², by the smaller of the two systems of equations."""
    if alpha <= NOTHING * np.square(matrix).sum():
        return np.linalg.lstsq(matrix, values, rcond=None)[0]
    n_samples, players = matrix.shape
    if n_samples < players:
        return matrix.T @ np.linalg.solve(matrix @ matrix.T + alpha * np.eye(n_samples), values)
    return np.linalg.solve(matrix.T @ matrix + alpha * np.eye(players), matrix.T @ values)


# What to say of scores that were fitted to a number of coalitions.


def sample_caveats(diagnostics: Mapping[str, float], tolerance: float | None) -> tuple[str, ...]:
    """The caveats that follow from `relative_error` and `fit_r2`."""
    allowed = TRUSTED_ERROR if tolerance is None else tolerance
    noise = noise_caveats(diagnostics["relative_error"], "raise n_samples", allowed)
    return noise + fit_caveats(diagnostics["fit_r2"])


# How well a sum of single scores reproduces the target's values of coalitions.

TRUSTED_R2 = 0.5


def fit_r2(values: np.ndarray, predicted: np.ndarray, weights: np.ndarray) -> float:
    """1 - weighted squared residuals / weighted squared distances from the mean; at most 1, and 1 where nothing
    varies.
    """
    mean = weights @ values / (weights.sum() or 1.0)
    spread = np.sum(weights * (values - mean) ** 2)
    residual = np.sum(weights * (values - predicted) ** 2)
    return float(1 - residual / spread) if spread > 1e-20 else 1.0


def fit_caveats(share: float) -> tuple[str, ...]:
    """What to say when a sum of single scores reproduces too little."""
    if share >= TRUSTED_R2:
        return ()
    return (
        f"A sum of single scores reproduces only {max(share, 0.0):.0%} of how the answer varies when units are taken "
        "away: units act together here, which scores one by one do not show.",
    )
