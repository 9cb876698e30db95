"""How well a sum of single scores reproduces the target's values of coalitions."""

import numpy as np

TRUSTED_R2 = 0.5


def fit_r2(values: np.ndarray, predicted: np.ndarray, weights: np.ndarray) -> float:
    """1 - weighted squared residuals / weighted squared distances from the mean; at most 1, and 1 where nothing varies."""
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
