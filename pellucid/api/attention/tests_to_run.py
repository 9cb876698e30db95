"""The tests of attention that run: those that a user names, or all that can."""

from collections.abc import Iterable
from dataclasses import replace

from pellucid.core.foundation.catalogue import Call, Choice
from pellucid.core.foundation.checks import choices
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import attention_tests
from pellucid.core.foundation.wording import listed


def tests_to_run(
    tests: Iterable[Choice] | None, seed: int, has_weights: bool, has_train: bool
) -> tuple[Call, ...]:
    """The tests to run, random ones with the seed; raises `BadSetting` for one that lacks weights or texts to train on."""
    lacking = {
        "user_weights": ""
        if has_weights
        else "weights of yours: give weights=, or --weights on the command line",
        "train": "" if has_train else "texts to train on: give train=, or --train on the command line",
    }
    if tests is None:
        names = attention_tests.names()
        named: list[Choice] = [
            name for name in names if not lacking.get(attention_tests.get(name).facts["needs"])
        ]
    else:
        named = choices("tests", tests)
        if not named:
            raise BadSetting(f"No test is named; give some of: {listed(attention_tests.names())}.")
    calls = attention_tests.calls(named)
    for call in calls:
        if needed := lacking.get(call.entry.facts["needs"]):
            raise BadSetting(f"{call.entry.name} reads {needed}.")
    return tuple(_with_seed(call, seed) for call in calls)


def _with_seed(call: Call, seed: int) -> Call:
    if not call.entry.facts["random"] or "seed" not in call.settings or "seed=" in call.title:
        return call
    return replace(call, settings={**call.settings, "seed": seed})
