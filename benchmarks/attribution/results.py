"""What was measured, in one JSON file that is written after every case: an interrupted benchmark goes on."""

import json
from importlib.metadata import PackageNotFoundError, version
from os import cpu_count, getloadavg, sched_getaffinity
from pathlib import Path
from platform import machine, platform, python_version
from typing import Any

import torch

from pellucid.models.routing.linear_product import peaks

PRODUCTS = {"torch": "PyTorch", "onednn": "oneDNN"}  # names of what multiplies
LIBRARIES = ("torch", "transformers", "numpy", "captum", "shap", "lime", "scikit-learn")


class Results:
    """Records by name; finished ones are kept, skipped and failed ones are tried again."""

    def __init__(self, path: Path, device: str, fresh: bool) -> None:
        self.path = path
        self.contents: dict[str, Any] = {"made_on": machine_of(device), "versions": versions(), "records": {}}
        if path.exists() and not fresh:
            saved = json.loads(path.read_text(encoding="utf-8"))
            if (saved["made_on"]["processor"], saved["made_on"]["device"], saved["versions"]) != (
                self.contents["made_on"]["processor"],
                self.contents["made_on"]["device"],
                self.contents["versions"],
            ):
                raise SystemExit(f"{path} was made on another machine or with other versions; give --fresh.")
            self.contents = saved

    @property
    def records(self) -> dict[str, Any]:
        """Everything by name."""
        return self.contents["records"]

    def has(self, name: str) -> bool:
        """Whether it was measured."""
        return name in self.records and not {"skipped", "failed"} & set(self.records[name])

    def keep(self, name: str, record: dict[str, Any]) -> None:
        """Write everything, whole or not at all."""
        self.records[name] = json.loads(json.dumps(record))  # as it will be read: names are strings
        self.path.parent.mkdir(parents=True, exist_ok=True)
        beside = self.path.with_suffix(".part")
        beside.write_text(json.dumps(self.contents, indent=1) + "\n", encoding="utf-8")
        beside.replace(self.path)


def machine_of(device: str) -> dict[str, Any]:
    """The machine in words and numbers."""
    return {
        "processor": _processor(),
        "peaks": _peaks(),
        "cores": cores(),
        "system": platform(terse=True),
        "device": torch.cuda.get_device_name() if device == "cuda" else "cpu",
        "load_before": round(getloadavg()[0], 2),
    }


def machine_words(machine: dict[str, Any]) -> str:
    """The processor and, where they were measured, its peaks."""
    speeds = " and ".join(f"{speed:.0f} GFLOP/s by {PRODUCTS[by]}" for by, speed in machine.get("peaks", {}).items())
    return machine["processor"] + (f", whose core multiplies matrices of float32 with {speeds}" if speeds else "")


def _peaks() -> dict[str, float]:
    """Of one core."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        return {name: round(speed, 1) for name, speed in peaks().items()}
    finally:
        torch.set_num_threads(threads)


def cores() -> int:
    """Cores that this process may use."""
    return len(sched_getaffinity(0)) if cpu_count() else 1


def versions() -> dict[str, str]:
    """Of Python and of every library that is timed; "not installed" where it is absent."""
    versions_by_name = {"python": python_version()}
    for library in LIBRARIES:
        try:
            versions_by_name[library] = version(library)
        except PackageNotFoundError:
            versions_by_name[library] = "not installed"
    return versions_by_name


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        pairs = (line.partition(":") for line in info.read_text().split("\n\n")[0].splitlines())
        facts = {name.strip(): value.strip() for name, _, value in pairs}
        flags = facts.get("flags", "").split()
        extras = [flag for flag in ("avx2", "avx512f", "avx512_bf16", "amx_bf16") if flag in flags] or ["no AVX2"]
        numbers = [f"{name.removeprefix('cpu ')} {facts[name]}" for name in ("cpu family", "model") if name in facts]
        return f"{facts.get('model name', machine())} ({', '.join([*numbers, *extras])})"
    return machine()


def publish(results: dict[str, Any], name: str, page: str, page_name: str) -> None:
    """Keep a benchmark's numbers beside the others', write its page among the documents, and print it."""
    root = Path(__file__).parents[2]
    (root / "benchmarks" / "results" / f"{name}.json").write_text(
        json.dumps(results, indent=1) + "\n", encoding="utf-8"
    )
    (root / "docs" / f"{page_name}.md").write_text(page, encoding="utf-8")
    print(page)
