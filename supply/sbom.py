"""A software bill of materials: every package installed here, as JSON in the form CycloneDX 1.6.

`make sbom` runs it. It lists what is installed, with the licence that each package names.
"""

import json
import re
import sys
from importlib.metadata import Distribution, distributions
from pathlib import Path
from typing import Any

OWN = "pellucid"


def bill(packages: list[Distribution]) -> dict[str, Any]:
    """The bill of packages; Pellucid itself is its subject."""
    parts = {part["bom-ref"]: part for part in map(component, packages)}
    own = [part for part in parts.values() if part["name"] == OWN]
    names = {part["name"]: reference for reference, part in parts.items()}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own[0] | {"type": "application"}} if own else {},
        "components": sorted((part for part in parts.values() if part not in own), key=lambda part: part["name"]),
        "dependencies": [
            {"ref": component(package)["bom-ref"], "dependsOn": sorted(needed(package, names))} for package in packages
        ],
    }


def component(package: Distribution) -> dict[str, Any]:
    """One package: name, version, package URL, and licence where it names one."""
    data, name = package.metadata, canonical(package.metadata["Name"])
    licence = data.get("License-Expression") or (data.get("License") or "").partition("\n")[0]
    part = {
        "type": "library",
        "name": name,
        "version": package.version,
        "purl": f"pkg:pypi/{name}@{package.version}",
    }
    part["bom-ref"] = part["purl"]
    return part | ({"licenses": [{"license": {"name": licence}}]} if licence else {})


def needed(package: Distribution, names: dict[str, str]) -> set[str]:
    """References of the installed packages that a package requires without any extra."""
    requirements = [line for line in package.requires or () if "extra ==" not in line]
    required = {canonical(re.split(r"[^A-Za-z0-9._-]", line, maxsplit=1)[0]) for line in requirements}
    return {names[name] for name in required & names.keys()}


def canonical(name: str) -> str:
    """A package's name as registries compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


if __name__ == "__main__":
    unique = {canonical(package.metadata["Name"]): package for package in distributions()}
    Path(sys.argv[1]).write_text(json.dumps(bill(list(unique.values())), indent=2) + "\n", encoding="utf-8")
