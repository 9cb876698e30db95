"""Settings for studies over many texts, of the methods that need most passes. The others run with their defaults."""

from collections.abc import Iterable

from pellucid.base.catalogue import Choice
from pellucid.demo import FEW_PASSES


def with_study_settings(methods: Iterable[Choice]) -> list[Choice]:
    """The methods, with the settings of the table where the caller chose none."""
    return [
        (choice, FEW_PASSES[choice]) if isinstance(choice, str) and choice in FEW_PASSES else choice
        for choice in methods
    ]
