"""The outcomes of checks, each in a file of a comparison's folder, so that an interrupted comparison goes on after them.

    checks/seed_agreement.json            a check with its usual settings
    checks/seed_agreement-1f0c….json      with others; the digits are a digest of them

Each file carries a seal: of the comparison, the check's settings, and the twins, texts or data sets that it reads.
"""

import json
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import check_folder, remove_unfinished, write_text
from pellucid.core.foundation.json_text import is_sealed, json_digest, read_json, seal_of, sealed, unsealed
from pellucid.core.foundation.kinds import checks
from pellucid.core.results.check_outcome import CheckOutcome, check_outcome_from

CHECKS = "checks"


@dataclass(frozen=True)
class CheckFolder:
    """path: the comparison's folder. of: what its comparison is sealed with."""

    path: Path
    of: Mapping[str, object]

    def read(self, call: Call, inputs: Mapping[str, object]) -> CheckOutcome | None:
        """The outcome of a check, None where there is no file; raises `BadFile` for that of other inputs, or a damaged one."""
        file = self._file(call)
        if not file.exists():
            return None
        content = read_json(file)
        try:
            assert is_sealed(content)
            return check_outcome_from(unsealed(content, self._seal(call, inputs), file))
        except (AssertionError, ValueError, TypeError, LookupError, AttributeError):
            raise BadFile(f"{file} holds no outcome of a check; remove it to have it made again.") from None

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
            seal = seal_of(file)
            if seal.get("comparison") not in earlier:
                continue
            name = str(seal.get("check")).partition("(")[0]
            if name in checks.names() and not checks.get(name).facts["of_metrics"]:
                content = unsealed(read_json(file), seal, file)
                write_text(
                    file, json.dumps(sealed(content, {**seal, **self.of}), ensure_ascii=False, indent=1)
                )
            else:
                file.unlink()

    def _file(self, call: Call) -> Path:
        own = call.title == call.entry.name
        name = call.entry.name if own else f"{call.entry.name}-{json_digest(call.title)[:12]}"
        return self.path / CHECKS / f"{name}.json"

    def _seal(self, call: Call, inputs: Mapping[str, object]) -> dict[str, object]:
        settings = json.loads(json.dumps(dict(call.settings)))
        return {**self.of, "check": call.title, "settings": settings, **inputs}
