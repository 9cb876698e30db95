"""Writes requirements.lock: the versions in constraints.txt with the hash of the file that pip chose here, but PyTorch.

`make lock` runs it. The hashes are those of one platform, which the first line names. PyTorch has none: its source
differs from machine to machine.
"""

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
ELSEWHERE = ("torch", "triton")  # another file on every kind of machine


def platform_line() -> str:
    """The first line of a lock that was written here."""
    version = ".".join(map(str, sys.version_info[:2]))
    return f"# {platform.system()} {platform.machine()}, Python {version}"


def locked(report: dict) -> list[str]:
    """A line for each file of pip's report."""
    lines = []
    for entry in report["install"]:
        data, hashes = entry["metadata"], entry["download_info"]["archive_info"]["hashes"]
        lines.append(f"{data['name']}=={data['version']} --hash=sha256:{hashes['sha256']}")
    return sorted(lines, key=str.lower)


def main() -> None:
    """Ask pip for every pinned file, and write the lock."""
    pinned = (ROOT / "constraints.txt").read_text().split()
    wanted = [line for line in pinned if line.partition("==")[0] not in ELSEWHERE]
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        arguments = [
            "install",
            "--quiet",
            "--dry-run",
            "--ignore-installed",
            "--no-deps",
            "--report",
            str(report),
        ]
        subprocess.run([sys.executable, "-m", "pip", *arguments, *wanted], check=True)
        lines = locked(json.loads(report.read_text()))
    LOCK.write_text("\n".join([platform_line(), *lines]) + "\n")


if __name__ == "__main__":
    main()
