"""What a check says of methods: lines with values, a pass or a fail where the check has one, and curves."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pellucid.base.checks import known
from pellucid.base.errors import UnknownName
from pellucid.results.interval import (
    Curve,
    Interval,
    curve_from,
    interval_from,
    misplaced,
    word_from,
)


@dataclass(frozen=True)
class CheckLine:
    """One number of a check.

    method: the judged method. measure: what the number is, such as "Kendall's tau". value: the number. n: over how many texts, or
    words. beside: what the method is compared with, or what is counted: another method, a twin, a word; "" for none.
    passed: whether the method passes; None where the check has no pass, or the interval lies on both sides of the limit.
    """

    method: str
    measure: str
    value: Interval
    n: int
    beside: str = ""
    passed: bool | None = None


@dataclass(frozen=True)
class CheckOutcome:
    """What one check gave.

    check: its name, with the settings that were changed. meaning: what it asks, in one sentence. lines: in the order of the
    methods. curves: of checks that have one; their metric is the check. curve_axis: what curves run along. settings: all of
    the check's. notes: what could not be judged, in sentences. rule: when a method passes; "" where there is no pass.
    """

    check: str
    meaning: str
    lines: tuple[CheckLine, ...]
    curves: tuple[Curve, ...] = ()
    curve_axis: str = ""
    settings: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    rule: str = ""

    @property
    def methods(self) -> tuple[str, ...]:
        """Methods in order of appearance."""
        return tuple(dict.fromkeys(line.method for line in self.lines))

    def of_method(self, method: str) -> tuple[CheckLine, ...]:
        """The lines of one method; raises `UnknownName` for a method that was not checked."""
        known("method of this check", method, self.methods)
        return tuple(line for line in self.lines if line.method == method)

    def line(self, method: str, measure: str | None = None, beside: str | None = None) -> CheckLine:
        """The first line of a method, or that of this measure, or beside this; raises `UnknownName` where there is none."""
        for line in self.of_method(method):
            if measure in (None, line.measure) and beside in (None, line.beside):
                return line
        measures = sorted({f"{line.measure} {line.beside}".strip() for line in self.of_method(method)})
        raise UnknownName(f"{self.check} has no such line of {method}; there are: {', '.join(measures)}.")


def check_outcome_from(record: Mapping[str, Any]) -> CheckOutcome:  # the fields of an outcome, in any state
    """The outcome of a record; raises `ValueError`, `TypeError` or `LookupError` for what is none."""
    if not isinstance(record["settings"], Mapping):
        raise misplaced(record["settings"])
    return CheckOutcome(
        word_from(record["check"]),
        word_from(record["meaning"]),
        tuple(map(_line, record["lines"])),
        tuple(map(curve_from, record["curves"])),
        word_from(record["curve_axis"]),
        dict(record["settings"]),
        tuple(map(word_from, record["notes"])),
        word_from(record["rule"]),
    )


def _line(record: Mapping[str, Any]) -> CheckLine:
    n, passed = record["n"], record["passed"]
    if isinstance(n, bool) or not isinstance(n, int):
        raise misplaced(n)
    if not isinstance(passed, bool | None):
        raise misplaced(passed)
    names = (word_from(record[name]) for name in ("method", "measure", "beside"))
    method, measure, beside = names
    return CheckLine(method, measure, interval_from(record["value"]), n, beside, passed)
