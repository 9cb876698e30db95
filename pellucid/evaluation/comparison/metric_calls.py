"""Metrics as a user names them, looked up: the entry, all its settings and a title."""

from collections.abc import Iterable

from pellucid.core.foundation.catalogue import Call, Choice
from pellucid.core.foundation.kinds import metrics


def metric_calls(choices: Iterable[Choice]) -> list[Call]:
    """Look metrics up, each a name or (name, settings); raises `UnknownName`, or `BadSetting` for twins."""
    return metrics.calls(choices)
