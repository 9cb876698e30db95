"""Runs the checks of a comparison, one after the other; a finished one is read from the folder."""

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from pellucid.base.catalogue import Call
from pellucid.base.errors import BadFile, ModelCannot
from pellucid.base.files import check_folder, disk_errors, remove_unfinished, write_text
from pellucid.base.json_text import json_digest, read_json, read_sealed, seal_of, sealed, unsealed
from pellucid.base.kinds import checks
from pellucid.base.processes import Progress
from pellucid.comparison.check_case import CheckCase, Findings
from pellucid.results.interval import CheckOutcome, check_outcome_from

# The outcomes of checks, each in a file of a comparison's folder, so that an interrupted comparison goes on after
# them.
#
# checks/seed_agreement.json a check with its usual settings checks/seed_agreement-1f0c….json with others; the digits
# are a digest of them
#
# Each file carries a seal: of the comparison, the check's settings, and the twins, texts or data sets that it reads.

CHECKS = "checks"


@dataclass(frozen=True)
class CheckFolder:
    """path: the comparison's folder. owner: what its comparison is sealed with."""

    path: Path
    owner: Mapping[str, object]
    damaged: list[str] = field(default_factory=list, compare=False)  # files that were removed, to be made again

    def read(self, call: Call, inputs: Mapping[str, object]) -> CheckOutcome | None:
        """The outcome of a check, None where there is no file, or a damaged one; raises `BadFile` for that of other
        inputs.
        """
        file, seal = self._file(call), self._seal(call, inputs)
        if not file.exists():
            return None
        try:
            written = {**seal_of(file), **self._seal(call, {})}  # with the inputs that the file names
            outcome = check_outcome_from(read_sealed(file, written, indent=1))
        except (BadFile, ValueError, TypeError, LookupError, AttributeError):
            self._take_away(file)
            return None
        if written != seal:
            unsealed(read_json(file), seal, file)
        return outcome

    def _take_away(self, file: Path) -> None:
        with disk_errors("write", file):
            file.unlink()
        self.damaged.append(file.relative_to(self.path).as_posix())

    def write(self, call: Call, inputs: Mapping[str, object], outcome: CheckOutcome) -> None:
        """Write an outcome, whole or not at all."""
        folder = self._file(call).parent
        check_folder(folder)
        remove_unfinished(folder)
        content = sealed(json.loads(json.dumps(asdict(outcome))), self._seal(call, inputs))
        write_text(self._file(call), json.dumps(content, ensure_ascii=False, indent=1))

    def renew(self, earlier: Collection[str]) -> None:
        """Keep the outcomes of comparisons with fewer metrics, and remove those that were of their metrics.

        earlier: digests of these comparisons.
        """
        for file in sorted((self.path / CHECKS).glob("*.json")) if earlier else ():
            try:
                seal = seal_of(file)
                content = read_sealed(file, seal, indent=1)
            except BadFile:
                self._take_away(file)
                continue
            if seal.get("comparison") not in earlier:
                continue
            name = str(seal.get("check")).partition("(")[0]
            if name in checks.names() and not checks.get(name).facts["of_metrics"]:
                write_text(file, json.dumps(sealed(content, {**seal, **self.owner}), ensure_ascii=False, indent=1))
            else:
                file.unlink()

    def _file(self, call: Call) -> Path:
        has_usual_settings = call.title == call.entry.name
        name = call.entry.name if has_usual_settings else f"{call.entry.name}-{json_digest(call.title)[:12]}"
        return self.path / CHECKS / f"{name}.json"

    def _seal(self, call: Call, inputs: Mapping[str, object]) -> dict[str, object]:
        settings = json.loads(json.dumps(dict(call.settings)))
        return {**self.owner, "check": call.title, "settings": settings, **inputs}


STAGE = "checking"


@dataclass(frozen=True)
class PlannedCheck:
    """A check with its settings. inputs: digests of what it reads besides the comparison. is_named: the user has named
    it.
    """

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
    for index, check in enumerate(planned):
        outcome = None if folder is None else folder.read(check.call, check.inputs)
        if outcome is None:
            progress(STAGE, index, len(planned))
            ready = case() if ready is None else ready
            outcome = _outcome(check, ready)
            if folder is not None:
                folder.write(check.call, check.inputs, outcome)
        outcomes.append(outcome)
    if ready is not None:
        progress(STAGE, len(planned), len(planned))
    return tuple(outcomes)


def _outcome(check: PlannedCheck, case: CheckCase) -> CheckOutcome:
    """What a check gives; of one that the model cannot run, why, unless the user named it."""
    call = check.call
    try:
        findings: Findings = call(case)
    except ModelCannot as error:
        if check.is_named:
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
