"""Settings for studies over many texts, of the methods that need most passes. The others run with their defaults."""

from collections.abc import Iterable
from typing import Any

from pellucid.core.foundation.catalogue import Choice

STUDY_SETTINGS: dict[str, dict[str, Any]] = {
    "smooth_gradient": {"n_samples": 8},
    "gradient_shap": {"n_samples": 8},
    "shapley_sampling": {"n_permutations": 8},
    "gaussian_process_shapley": {"n_samples": 64},
    "kernel_shap": {"n_samples": 64},
    "lime": {"n_samples": 64},
}


def with_study_settings(methods: Iterable[Choice]) -> list[Choice]:
    """The methods, with the settings of the table where the caller chose none."""
    return [
        (choice, STUDY_SETTINGS[choice]) if isinstance(choice, str) and choice in STUDY_SETTINGS else choice
        for choice in methods
    ]
