"""Gaussian process Shapley values: those of the game that a Gaussian process expects after the model has read some coalitions.

Our own method. Kriging as in Rasmussen & Williams (2006), "Gaussian Processes for Machine Learning", equations 2.23 and 2.24;
Shapley values from interactions as in Grabisch, Marichal & Roubens (2000), "Equivalent Representations of Set Functions".
"""

from collections.abc import Iterator
from itertools import chain, islice

import numpy as np
import torch

from pellucid.attribution.shapley_sampling import shapley_values
from pellucid.attribution.shared.coalition_game import all_coalitions, coalitions, games
from pellucid.attribution.shared.game_process import expected_shapley_values, hadamard
from pellucid.attribution.shared.sampling_error import relative_error
from pellucid.attribution.shared.surrogate import fit_r2, sample_caveats
from pellucid.base.checks import between
from pellucid.base.kinds import attributions
from pellucid.run.batch import Operator
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.model import Scores
from pellucid.run.target import Explainable
from pellucid.text.units import Kind

MOST_SAMPLES = 4096  # equations have the square of half as many numbers


@attributions.add(
    needs=frozenset(),
    cost="n_samples runs of the model",
    complete=True,
    random=True,
    units="word",
    usual=False,
)
def gaussian_process_shapley(
    run: ForwardPass,
    target: Explainable,
    *,
    unit: Kind = "word",
    n_samples: int = 128,
    operator: Operator = "absent",
) -> Scores:
    """Share the target's rise, from the text without its units to the text, among the units: expected Shapley values.

    unit: what is taken out and scored. n_samples: coalitions that the model is evaluated on, besides all and none, in pairs of a
    coalition and its complement, 8 to 4,096: first those of a Hadamard matrix, then single units, then random ones of evenly spread sizes.
    Texts with no more coalitions are computed exactly. operator: how units are taken out; see `pellucid.run.batch.edit`.

    Diagnostics: `exact` (1 where all coalitions fit, else 0), `n_samples`, `fit_r2` (how well sums of scores reproduce the
    values of coalitions), `standard_error` (the standard deviation that the process leaves, root mean square over the units, in the
    target's unit) and `relative_error` (that divided by the largest score).
    """
    between("n_samples", n_samples, 8, MOST_SAMPLES)
    game = games(run, target, unit, operator)
    known = [
        _coalitions(players, n_samples, generator)
        for players, generator in zip(game.sizes, run.generators("gaussian_process_shapley"), strict=True)
    ]
    fits = [_fitted(present, of_text) for present, of_text in zip(known, game.values(known), strict=True)]
    return Scores(
        game.scores(scores for scores, _ in fits),
        units=game.units,
        diagnostics=tuple(diagnostics for _, diagnostics in fits),
        caveats=tuple(sample_caveats(diagnostics) for _, diagnostics in fits),
    )


def _coalitions(players: int, n_samples: int, generator: torch.Generator) -> np.ndarray:
    """[coalition player]: all of them where they fit; else all players, the first of each pair, and the complements of these."""
    if 2**players - 2 <= n_samples:
        return all_coalitions(players)
    first = np.array(list(islice(_pairs(players, generator), n_samples // 2)))
    present = np.concatenate([np.ones((1, players), dtype=bool), first])
    return np.concatenate([present, ~present])


def _pairs(players: int, generator: torch.Generator) -> Iterator[np.ndarray]:
    """An endless sequence of coalitions [player], of each pair of complements one, none twice, until there are no more."""
    seen = {np.ones(players, dtype=bool).tobytes(), np.zeros(players, dtype=bool).tobytes()}
    singles = (np.arange(players) == player for player in _order(players, generator))
    drawn = coalitions(players, generator, lambda numbers: 1 + (numbers * (players - 1)).astype(int))
    for present in chain(_balanced(players, generator), singles, drawn):
        if present.tobytes() not in seen:
            seen |= {present.tobytes(), (~present).tobytes()}
            yield present


def _balanced(players: int, generator: torch.Generator) -> Iterator[np.ndarray]:
    """Coalitions of about half of the players, in which every two are as often together as apart: a matrix's rows, in any order."""
    matrix = hadamard(players) > 0
    columns = _order(len(matrix), generator)[:players]
    return (matrix[1 + row, columns] for row in _order(len(matrix) - 1, generator))


def _order(count: int, generator: torch.Generator) -> np.ndarray:
    return torch.rand(count, generator=generator, dtype=torch.float64).argsort().numpy()


def _fitted(present: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, dict[str, float]]:
    """The scores [player] and their diagnostics; values: [coalition], as from `_coalitions`."""
    players = present.shape[1]
    exact = len(present) == 2**players
    if exact:
        scores, error, none = shapley_values(values), 0.0, values[0]
    else:
        half = len(present) // 2
        odd, none = (values[:half] - values[half:]) / 2, values[half]
        scores, error = expected_shapley_values(present[:half], odd)
    return scores, {
        "exact": float(exact),
        "n_samples": float(max(0, len(present) - 2)),
        "fit_r2": fit_r2(values, none + present @ scores, np.ones(len(values))),
        "standard_error": error,
        "relative_error": relative_error(error, scores),
    }
