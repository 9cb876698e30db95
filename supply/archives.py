"""Wheel and source archive of a clean copy of the last commit: built twice with the same bytes, and looked into."""

import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Callable, Sequence
from email.parser import Parser
from pathlib import Path

from supply.description import description, relative_links
from supply.release_state import version_of

BUILD = """
import sys, setuptools.build_meta as tool
print(getattr(tool, "build_" + sys.argv[1])(sys.argv[2]))
"""
# Code is 1.5 MB of it, the demo's small model 2.4 MB, our own texts .3 MB.
LARGEST = 4_500_000
TEXTS = r"pellucid/data/texts/(concepts|helpdesk|pocket|pocket_more|pocket_pairs)/[\w-]+\.txt"
DATA = rf"{TEXTS}|pellucid/data/models/helpdesk\.safetensors"
WHEEL = rf"pellucid/([\w/]+/)?\w+\.pyi?|pellucid/py\.typed|pellucid/studio/(icon\.svg|studio\.js)|{DATA}"
SOURCE = rf"{WHEEL}|PKG-INFO|setup\.cfg|pyproject\.toml|MANIFEST\.in|[A-Z_]+\.md|LICENSE|CITATION\.cff|constraints\.txt"


def built_twice(root: Path, out: Path, epoch: int, address: str = "") -> list[Path]:
    """The wheel and the source archive of the last commit, in a folder; raises `SystemExit` where two builds differ.

    root: the repository. epoch: the time of the last commit, which archives bear (SOURCE_DATE_EPOCH). address: the
    repository's page, which links of the description lead to.
    """
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        both = [built(root, Path(folder), epoch, address) for folder in (first, second)]
        for path, again in zip(*both, strict=True):
            if path.read_bytes() != again.read_bytes():
                raise SystemExit(f"{path.name} differs from build to build; compare both with diffoscope.")
        out.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.copy(path, out)) for path in both[0]]


def built(root: Path, folder: Path, epoch: int, address: str) -> list[Path]:
    """One build, in a copy of what is committed whose README.md is the description."""
    copy, archives = folder / "copy", folder / "archives"
    for path in (copy, archives):
        path.mkdir()
    packed = subprocess.run(["git", "archive", "HEAD"], cwd=root, check=True, capture_output=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(copy, filter="data")
    readme = copy / "README.md"
    readme.write_text(description(readme.read_text(encoding="utf-8"), address, version_of(copy)), encoding="utf-8")
    settings = os.environ | {"SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0"}
    for kind in ("wheel", "sdist"):
        command = [sys.executable, "-W", "ignore", "-c", BUILD, kind, str(archives)]
        done = subprocess.run(command, cwd=copy, env=settings, capture_output=True, text=True, umask=0o022)
        if done.returncode:
            raise SystemExit(f"The {kind} was not built:\n{done.stderr}")
    source, wheel = sorted(archives.iterdir(), key=lambda path: path.suffix)
    steady(source, epoch)
    return [wheel, source]


def steady(path: Path, epoch: int) -> None:
    """Write a source archive again with nothing in it of when, where and by whom it was built."""
    content = io.BytesIO()
    with tarfile.open(path) as before, tarfile.open(fileobj=content, mode="w", format=tarfile.PAX_FORMAT) as after:
        for member in sorted(before.getmembers(), key=lambda member: member.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = epoch, 0, 0, "", ""
            member.mode, member.pax_headers = (0o755 if member.isdir() else 0o644), {}
            after.addfile(member, before.extractfile(member) if member.isfile() else None)
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=epoch) as packed:
        packed.write(content.getvalue())


def check_content(path: Path) -> int:
    """How many files an archive has; raises `SystemExit` for one that does not belong there, and for one too large."""
    if path.suffix == ".whl":
        names, allowed = zipfile.ZipFile(path).namelist(), rf"{WHEEL}|pellucid-[\d.]+\.dist-info/.*"
    else:
        with tarfile.open(path) as archive:
            names = [name.partition("/")[2] for name in archive.getnames() if not archive.getmember(name).isdir()]
        allowed = rf"{SOURCE}|pellucid\.egg-info/.*"
    strange = [name for name in names if not re.fullmatch(allowed, name)]
    if strange:
        raise SystemExit(
            f"{path.name} has {strange[0]}, which does not belong there ({len(strange)} such); leave it out."
        )
    size = path.stat().st_size
    if size > LARGEST:
        raise SystemExit(f"{path.name} has {size:,} bytes, and {LARGEST:,} are allowed; find out what grew.")
    return len(names)


def check_metadata(wheel: Path, version: str) -> None:
    """Raises `SystemExit` where a package index would refuse the wheel, or show it badly."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        data = Parser().parsestr(archive.read(name).decode())
    wanted: dict[str, Callable[[str], bool]] = {
        "Name": "pellucid".__eq__,
        "Version": version.__eq__,
        "Summary": lambda text: 0 < len(text) <= 512,
        "License-Expression": "Apache-2.0".__eq__,
        "Requires-Python": ">=3.11".__eq__,
        "Description-Content-Type": lambda text: text.startswith("text/markdown"),
    }
    for field, fits in wanted.items():
        if not fits(data.get(field) or ""):
            raise SystemExit(f"The wheel's metadata has {field}: {data.get(field)!r}; mend it in pyproject.toml.")
    text = str(data.get_payload() or "")
    if not text.strip():
        raise SystemExit("The wheel's metadata has no description; name README.md in pyproject.toml.")
    if paths := relative_links(text):
        raise SystemExit(
            f"The description leads to {paths[0]}, which a package index has not; mend supply/description.py."
        )


def check_by_twine(archives: Sequence[Path], twine: Path) -> None:
    """Raises `SystemExit` with twine's words where an index would refuse an archive or not render its description."""
    command = [str(twine), "check", "--strict", *map(str, archives)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"twine refuses the archives:\n{done.stdout}{done.stderr}")
