"""What earlier trials chose, in one small file of the user's: a trial measures time, and one a machine is enough.

The file lies in the folder that PELLUCID_CACHE names, else in `pellucid` in that of XDG_CACHE_HOME, else in `~/.cache/pellucid`. Without it
every process tries for itself.
"""

import json
import os
import platform
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import sha256
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import whole_file

PACKAGES = ("torch", "transformers", "openvino", "pellucid")  # whose versions may change what is fastest
NAMES_OF_PROCESSORS = (  # of Intel's and AMD's, and of ARM's
    *("vendor_id", "cpu family", "model\t", "model name", "flags"),
    *("cpu implementer", "cpu architecture", "cpu variant", "cpu part", "features"),
)
MOST = 200  # choices in the file; the oldest go first

Choice = tuple[str, str]  # a route's name, and why


def storage_key(question: Mapping[str, object]) -> str:
    """What a choice depends on, as one word: the question, this machine and the versions of what computes."""
    everything = {**question, "machine": _machine(), "versions": {name: _version(name) for name in PACKAGES}}
    return sha256(json.dumps(everything, sort_keys=True).encode()).hexdigest()[:32]


def stored_choice(key: str) -> Choice | None:
    """What a trial chose before; None where the file does not have it or cannot be read."""
    match _stored().get(key):
        case {"route": str(name), "why": str(why)}:
            return name, why
    return None


def store_choice(key: str, choice: Choice) -> None:
    """Add a choice to the file; where nothing can be written, nothing is."""
    name, why = choice
    entries = {
        **_stored(),
        key: {"route": name, "why": why},
    }  # read again: another process may have added its own
    latest = dict(list(entries.items())[-MOST:])
    with suppress(BadFile, OSError), whole_file(_path()) as file:
        file.write((json.dumps(latest, indent=1) + "\n").encode())


def _stored() -> dict[str, object]:
    try:
        entries = json.loads(_path().read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _path() -> Path:
    """Raises `OSError` for a user without a home."""
    if named := os.environ.get("PELLUCID_CACHE"):
        return Path(named) / "routes.json"
    try:
        shared = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    except RuntimeError as error:
        raise OSError(str(error)) from None
    return shared / "pellucid" / "routes.json"


@cache
def _machine() -> list[str]:
    """The processor, and how many cores it has."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:  # another system
        lines = []
    facts = [line for line in lines if line.lower().startswith(NAMES_OF_PROCESSORS)]
    return [platform.machine(), platform.processor(), str(os.cpu_count()), *dict.fromkeys(facts)]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""
