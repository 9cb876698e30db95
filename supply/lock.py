"""Writes requirements.lock: the versions in constraints.txt with the hash of the file that pip chose here, but PyTorch.

`make lock` runs it, and writes the locks of what the site and the release are made with, too. The hashes are those of
one platform, which the first line names. PyTorch has none: its source differs from machine to machine.
"""

import json
import platform
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "requirements.lock"
# a list of pinned versions -> its lock
LOCKS = {
    ROOT / "constraints.txt": LOCK,
    ROOT / "docs/site/requirements.txt": ROOT / "docs/site/requirements.lock",
    ROOT / "supply/requirements.txt": ROOT / "supply/requirements.lock",
}
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


def pinned(versions: Path) -> list[str]:
    """The lines of a list that name a version to be locked."""
    lines = versions.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if "==" in line and line.partition("==")[0] not in ELSEWHERE]


def write_lock(versions: Path, lock: Path) -> None:
    """Ask pip for every pinned file, and write the lock."""
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
        subprocess.run([sys.executable, "-m", "pip", *arguments, *pinned(versions)], check=True)
        lines = locked(json.loads(report.read_text()))
    lock.write_text("\n".join([platform_line(), *lines]) + "\n")


if __name__ == "__main__":
    for pair in LOCKS.items():
        write_lock(*pair)
