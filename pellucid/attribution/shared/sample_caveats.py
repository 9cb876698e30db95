"""What to say of scores that were fitted to a number of coalitions."""

from collections.abc import Mapping

from pellucid.attribution.shared.fit_r2 import fit_caveats
from pellucid.attribution.shared.sampling_error import noise_caveats


def sample_caveats(diagnostics: Mapping[str, float]) -> tuple[str, ...]:
    """The caveats that follow from `relative_error` and `fit_r2`."""
    noise = noise_caveats(diagnostics["relative_error"], "raise n_samples")
    return noise + fit_caveats(diagnostics["fit_r2"])
