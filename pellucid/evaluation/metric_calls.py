"""Metrics as a user names them, looked up: the entry, all its settings and a title."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from pellucid.core.case import Case, Judged
from pellucid.core.catalogue import Entry
from pellucid.core.errors import BadSetting
from pellucid.core.kinds import metrics

MetricChoice = str | tuple[str, Mapping[str, Any]]


@dataclass(frozen=True)
class MetricCall:
    """A metric with all its settings; title tells it from the same metric with other settings."""

    entry: Entry
    settings: Mapping[str, Any]
    title: str

    def __call__(self, case: Case) -> Judged:
        """The metric's values for a case."""
        return self.entry.make(case, **self.settings)


def metric_calls(choices: Iterable[MetricChoice]) -> list[MetricCall]:
    """Look metrics up, each a name or (name, settings); raises `UnknownName`, or `BadSetting` for twins."""
    calls = [_metric_call(choice) for choice in choices]
    titles = [call.title for call in calls]
    if len(set(titles)) < len(titles):
        raise BadSetting(f"A metric is named twice with the same settings: {', '.join(titles)}.")
    return calls


def _metric_call(choice: MetricChoice) -> MetricCall:
    name, given = (choice, {}) if isinstance(choice, str) else choice
    entry = metrics.get(name)
    words = ", ".join(f"{key}={value}" for key, value in given.items())
    return MetricCall(entry, entry.settings(dict(given)), f"{name}({words})" if words else name)
