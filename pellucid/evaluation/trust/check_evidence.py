"""What checks say of methods, as a trust card reads it: failures, seconds, and what was not checked."""

from collections.abc import Sequence

from pellucid.core.foundation.kinds import checks
from pellucid.core.results.check_outcome import CheckOutcome
from pellucid.core.results.table import COST_SECONDS


def failures_of(outcomes: Sequence[CheckOutcome]) -> dict[str, list[str]]:
    """Method -> the checks that it fails, each as the end of a sentence, with the first number that fails."""
    failures: dict[str, list[str]] = {}
    for outcome in outcomes:
        for method in outcome.methods:
            failed = [line for line in outcome.of_method(method) if line.passed is False]
            if failed:
                beside = f" {failed[0].beside}" if failed[0].beside else ""
                number = f"{failed[0].measure}{beside} {failed[0].value.mean:.2f}"
                failures.setdefault(method, []).append(f"fails {outcome.check} ({number})")
    return failures


def seconds_of(outcomes: Sequence[CheckOutcome]) -> dict[str, float]:
    """Method -> seconds a text, where the check `cost` was made."""
    return {
        line.method: line.value.mean
        for outcome in outcomes
        for line in outcome.lines
        if line.measure == COST_SECONDS
    }


def unmade_checks(outcomes: Sequence[CheckOutcome]) -> list[str]:
    """The checks that can fail a method, and `cost`, as far as they were not made."""
    finished = {outcome.check.partition("(")[0] for outcome in outcomes}
    telling = [name for name in checks.names() if checks.get(name).facts["rule"] or name == "cost"]
    return [name for name in telling if name not in finished]
