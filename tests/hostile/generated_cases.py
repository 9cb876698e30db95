"""A property becomes two tests: a few generated cases in the suite, and many in `make test-long`."""

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings

MANY: dict[str, int] = {}  # property -> the cases that `make test-long` generates of it


def generated(few: int, many: int, **strategies: Any) -> Callable[[Callable], Callable]:
    """Turn a property into a test; its arguments without a strategy are fixtures. Too few cases are a failure."""

    def decorate(check: Callable) -> Callable:
        fixtures = [name for name in inspect.signature(check).parameters if name not in strategies]
        MANY[f"{check.__module__.rpartition('.')[2]}.{check.__name__}"] = many

        @pytest.mark.parametrize(
            "cases", [few, pytest.param(many, marks=[pytest.mark.long, pytest.mark.timeout(3600)])]
        )
        def test(request, record_property, cases):
            fixture_values = {name: request.getfixturevalue(name) for name in fixtures}
            ran = _ran(lambda **drawn: check(**fixture_values, **drawn), cases, strategies)
            record_property("generated cases", ran)
            assert ran >= cases

        test.__name__ = test.__qualname__ = check.__name__
        test.__doc__, test.__module__ = check.__doc__, check.__module__
        return test

    return decorate


def _ran(check: Callable, cases: int, strategies: dict[str, Any]) -> int:
    """Run a check on this many generated cases; returns how many really ran."""
    ran = 0

    @settings(
        max_examples=cases,
        phases=[Phase.generate],  # shrinking a case takes long where models are loaded
        suppress_health_check=list(HealthCheck),
    )
    @given(**strategies)
    def run(**drawn: Any) -> None:
        nonlocal ran
        ran += 1
        check(**drawn)

    run()
    return ran
