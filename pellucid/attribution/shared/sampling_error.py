"""How far other random draws would move scores."""

import numpy as np

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
