"""Runs the checks of a comparison, one after the other; a finished one is read from the folder."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.errors import ModelCannot
from pellucid.core.foundation.progress import Progress
from pellucid.core.results.check_outcome import CheckOutcome
from pellucid.evaluation.checking.check_case import CheckCase
from pellucid.evaluation.checking.check_folder import CheckFolder
from pellucid.evaluation.checking.findings import Findings

STAGE = "checking"


@dataclass(frozen=True)
class PlannedCheck:
    """A check with its settings. inputs: digests of what it reads besides the comparison. is_named: the user has named it."""

    call: Call
    inputs: Mapping[str, object]
    is_named: bool = True


def run_checks(
    planned: tuple[PlannedCheck, ...],
    case: Callable[[], CheckCase],
    folder: CheckFolder | None,
    progress: Progress,
) -> tuple[CheckOutcome, ...]:
    """The outcomes in order; case: what checks are given, made when the first of them runs."""
    outcomes: list[CheckOutcome] = []
    ready: CheckCase | None = None
    for number, one in enumerate(planned):
        outcome = None if folder is None else folder.read(one.call, one.inputs)
        if outcome is None:
            progress(STAGE, number, len(planned))
            ready = case() if ready is None else ready
            outcome = _outcome(one, ready)
            if folder is not None:
                folder.write(one.call, one.inputs, outcome)
        outcomes.append(outcome)
    if ready is not None:
        progress(STAGE, len(planned), len(planned))
    return tuple(outcomes)


def _outcome(one: PlannedCheck, case: CheckCase) -> CheckOutcome:
    """What a check gives; of one that the model cannot run, why, unless the user named it."""
    call = one.call
    try:
        findings: Findings = call(case)
    except ModelCannot as error:
        if one.is_named:
            raise
        findings = Findings((), notes=(f"Left out: {error}",))
    facts = call.entry.facts
    return CheckOutcome(
        check=call.title,
        meaning=call.entry.summary,
        lines=tuple(findings.lines),
        curves=tuple(findings.curves),
        curve_axis=facts["curve_axis"] if findings.curves else "",
        settings=json.loads(json.dumps(dict(call.settings))),
        notes=tuple(findings.notes),
        rule=facts["rule"],
    )
