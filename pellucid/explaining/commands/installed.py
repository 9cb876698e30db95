"""`pellucid --version --verbose`: what is installed here, for reports of bugs; it names no path, user or machine."""

import os
import platform
import re
from collections.abc import Iterator
from importlib.metadata import PackageNotFoundError, requires, version
from pathlib import Path

from pellucid.base.packages import __version__

COMPUTING = ("torch", "transformers", "tokenizers", "safetensors", "numpy", "scipy", "scikit-learn", "pyarrow")
OF_EXTRA = re.compile(r"(?P<package>[\w.-]+).*\bextra == ['\"](?P<extra>\w+)['\"]")
NOT_FOR_USERS = ("dev", "all", "wordnet")  # of developers; of several others; an old name


def installed() -> str:
    """Versions, system, processor, devices and extras, a line each."""
    system = f"{platform.system()} {platform.release()}, {platform.machine()}"
    lines = {
        "pellucid": __version__,
        "Python": f"{platform.python_version()} ({platform.python_implementation()})",
        "system": f"{system}, {os.cpu_count()} cores",
        "processor": processor(),
        "devices": devices(),
        **{name: _version(name) for name in COMPUTING},
        **{f"extra {extra}": ", ".join(parts) for extra, parts in sorted(extras().items())},
    }
    width = max(map(len, lines))
    return "\n".join(f"{name:{width}}  {text}" for name, text in lines.items())


def extras() -> dict[str, list[str]]:
    """extra -> its packages with their versions here; without a distribution of Pellucid there are none."""
    by_extra: dict[str, list[str]] = {}
    for package, extra in _packages_of_extras():
        by_extra.setdefault(extra, []).append(f"{package} {_version(package)}")
    return by_extra


def _packages_of_extras() -> Iterator[tuple[str, str]]:
    try:
        lines = requires("pellucid") or []
    except PackageNotFoundError:
        lines = []
    for match in filter(None, map(OF_EXTRA.match, lines)):
        if match["extra"] not in NOT_FOR_USERS:
            yield match["package"], match["extra"]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def processor() -> str:
    """The processor's name, as the system gives it."""
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8")
    except OSError:  # another system
        text = ""
    names = re.findall(r"^(?:model name|Model|cpu model)\s*:\s*(.+)$", text, re.MULTILINE)
    return names[0] if names else platform.processor() or "unknown"


def devices() -> str:
    """What torch can compute on; if it cannot be imported, why, by the kind of error alone, which may quote paths."""
    try:
        import torch
    except Exception as error:  # a broken installation is what such reports are about
        return f"torch cannot be imported ({type(error).__name__})"
    gpus = [torch.cuda.get_device_name(place) for place in range(torch.cuda.device_count())]
    return ", ".join(["cpu", *(f"cuda ({name})" for name in gpus)])
