"""The checks of a comparison: looked up and refused before any work, and run after the metrics."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pellucid.api.checking.corpora import Read, corpora_digests, corpora_of
from pellucid.api.checking.model_changes import OurChanges
from pellucid.api.checking.twins import twins_of
from pellucid.core.foundation.call_syntax import in_syntax
from pellucid.core.foundation.catalogue import Call, Choice
from pellucid.core.foundation.checks import choices
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.kinds import checks as known_checks
from pellucid.core.foundation.progress import Progress
from pellucid.core.foundation.seals import json_digest
from pellucid.core.passes.model import Model
from pellucid.core.results.check_outcome import CheckOutcome
from pellucid.core.results.explanation_record import example_record
from pellucid.core.text.example import Example
from pellucid.evaluation.checking.check_case import CheckCase, Train
from pellucid.evaluation.checking.check_folder import CheckFolder
from pellucid.evaluation.checking.findings import TextIntervals
from pellucid.evaluation.checking.run_checks import PlannedCheck, run_checks
from pellucid.evaluation.checking.scored_text import Explained
from pellucid.evaluation.comparison.comparison import Comparison

ALL = "all"  # in a list of checks: every one that is not long and has what it needs
OPTIONS = {  # what a check needs -> what it is, and which option gives it
    "twins": "twins, further trainings of the model with other seeds: give twins=[…], or --twin on the command line",
    "trainer": "texts to train on: give train=, or --train on the command line",
    "corpora": "explanations of other data sets: give corpora=[…], or --corpus on the command line",
}
UNREAD = {  # what came without a check that reads it -> what it is, and such a check
    "twins": ("Twins", "seed_agreement"),
    "trainer": ("Texts to train on", "label_randomisation"),
    "corpora": ("Other data sets", "corpus_agreement"),
}


@dataclass(frozen=True)
class Checking:
    """calls: the checks; named: the titles of those that the user named. The others are what checks read, by need."""

    calls: tuple[Call, ...] = ()
    named: frozenset[str] = frozenset()
    twins: Mapping[str, Model] = field(default_factory=dict)
    train: tuple[Example, ...] = ()
    trained: Train | None = None
    corpora: Mapping[str, Explained] = field(default_factory=dict)
    digests: Mapping[str, object] = field(default_factory=dict)

    def outcomes(
        self,
        comparison: Comparison,
        explained: Callable[[], Explained],
        folder: CheckFolder | None,
        progress: Progress,
    ) -> tuple[CheckOutcome, ...]:
        """The outcomes of all checks, in order. explained: the comparison's explanations, read when a check runs."""

        def case() -> CheckCase:
            request = comparison.request
            return CheckCase(
                request,
                comparison.examples,
                explained(),
                TextIntervals(comparison.resamples, request.seed),
                OurChanges(),
                self.twins,
                self.train,
                self.trained,
                self.corpora,
                comparison.calls,
                None if folder is None else folder.path,
                progress,
            )

        return run_checks(tuple(map(self._planned, self.calls)), case, folder, progress)

    def _planned(self, call: Call) -> PlannedCheck:
        inputs = {
            need: self.digests[need] for need in sorted(call.entry.facts["needs"] & self.digests.keys())
        }
        return PlannedCheck(call, inputs, call.title in self.named)


NO_CHECKS = Checking()


def checking_of(
    comparison: Comparison,
    checks: Iterable[Choice] | None,
    *,
    twins: Any = (),
    corpora: Any = (),
    read: Read,
    train: Sequence[Example] = (),
    trainer: Callable[[], Train] | None = None,
) -> Checking:
    """What a call of `compare` asks to be checked; raises `BadSetting` for a check without what it needs.

    read: reads saved explanations. train: labelled texts; trainer: makes what trains on them, where a check needs it.
    """
    came = {"twins": not is_empty(twins), "trainer": bool(train), "corpora": not is_empty(corpora)}
    named = [] if checks is None else choices("checks", checks)
    if not named and any(came.values()):
        what, check = UNREAD[next(name for name, is_there in came.items() if is_there)]
        way = in_syntax(f"give checks=[{check!r}]", f"add --checks {check}")
        raise BadSetting(f"{what} are read by checks, and none was named; {way}.")
    calls = check_calls(
        named, frozenset({"explainer", *(name for name, is_there in came.items() if is_there)})
    )
    own = frozenset(call.title for call in calls if ALL not in named or call.title in _titles(named))
    models = twins_of(comparison.request, twins, comparison.examples) if came["twins"] else {}
    titles = [call.title for call in comparison.request.calls]
    others = corpora_of(corpora, titles, read) if came["corpora"] else {}
    digests = {
        "twins": {name: twin.hash for name, twin in models.items()},
        "corpora": corpora_digests(others),
        "trainer": json_digest([example_record(one) for one in train]),
    }
    trains = any("trainer" in call.entry.facts["needs"] for call in calls)
    trained = trainer() if trains and trainer is not None else None
    return Checking(calls, own, models, tuple(train), trained, others, digests)


def is_empty(several: Any) -> bool:
    """Whether a list, a tuple or a dictionary has no members."""
    return isinstance(several, list | tuple | Mapping) and not several


def check_calls(named: Sequence[Choice], available: frozenset[str]) -> tuple[Call, ...]:
    """Look checks up, "all" among them; available: what there is of their needs. Raises `BadSetting` for one that lacks something."""
    own = [choice for choice in named if choice != ALL]
    calls = known_checks.calls(own)
    for call in calls:
        for need in sorted(call.entry.facts["needs"] - available):
            raise BadSetting(f"{call.entry.name} needs {OPTIONS[need]}.")
    if ALL not in named:
        return tuple(calls)
    usual = [name for name in known_checks.names() if name not in {call.entry.name for call in calls}]
    return (*known_checks.calls(name for name in usual if _runs(name, available)), *calls)


def _runs(name: str, available: frozenset[str]) -> bool:
    facts = known_checks.get(name).facts
    return not facts["long"] and facts["needs"] <= available


def _titles(named: Sequence[Choice]) -> set[str]:
    return {call.title for call in known_checks.calls(choice for choice in named if choice != ALL)}
