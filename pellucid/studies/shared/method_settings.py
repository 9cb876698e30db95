"""Settings of the methods that evaluate most, for studies over many texts; the others run with their defaults."""

from collections.abc import Iterable
from typing import Any

from pellucid.core.foundation.catalogue import Choice

AFFORDABLE: dict[str, dict[str, Any]] = {
    "smooth_gradient": {"n_samples": 8},
    "gradient_shap": {"n_samples": 8},
    "shapley_sampling": {"n_permutations": 8},
    "kernel_shap": {"n_samples": 64},
    "lime": {"n_samples": 64},
}


def affordable(methods: Iterable[Choice]) -> list[Choice]:
    """The methods, those of the table with its settings; settings that were given stay."""
    return [
        (choice, AFFORDABLE[choice]) if isinstance(choice, str) and choice in AFFORDABLE else choice
        for choice in methods
    ]
