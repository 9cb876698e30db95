"""What is installed is what was locked: hashes for every pin, a set-up that ends at a wrong file, a bill of
materials.
"""

import json
import re
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

from supply import install, lock, sbom

ROOT = Path(__file__).parents[1]


def pins(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def test_every_pinned_package_is_locked_by_a_hash():
    locked = {sbom.canonical(line.partition("==")[0]): line for line in pins("requirements.lock")}
    pinned = {sbom.canonical(line.partition("==")[0]): line for line in pins("constraints.txt")}
    assert pinned.keys() - locked.keys() == {"torch"}
    assert {"pip", "setuptools"} <= locked.keys()
    for name, line in locked.items():
        assert re.fullmatch(r"[^ ]+==[^ ]+ --hash=sha256:[0-9a-f]{64}", line)
        assert sbom.canonical(line.partition(" ")[0]) == sbom.canonical(pinned[name])


def test_the_tool_that_builds_is_pinned():
    build = re.search(r"^requires = \[(.*)\]$", (ROOT / "pyproject.toml").read_text(), re.M)
    assert build is not None and re.fullmatch(r'"setuptools==[0-9.]+"', build[1])
    assert build[1].strip('"') in pins("constraints.txt")


def test_the_hashes_of_another_platform_are_not_required(tmp_path):
    (tmp_path / "a.lock").write_text("# Plan9 vax, Python 2.7\nnothing==1 --hash=sha256:" + "0" * 64)
    assert install.by_hashes(tmp_path / "a.lock") == "its hashes are for Plan9 vax, Python 2.7"


def wheel(folder):
    """A tiny package in a folder that stands for an index."""
    import zipfile

    path = folder / "pellucid_probe-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("pellucid_probe.py", "")
        about = "pellucid_probe-1.dist-info/"
        file.writestr(about + "METADATA", "Metadata-Version: 2.1\nName: pellucid-probe\nVersion: 1\n")
        file.writestr(about + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        file.writestr(about + "RECORD", "")
    return path


@pytest.mark.whole
def test_a_file_with_another_hash_ends_the_set_up(tmp_path, monkeypatch):
    wheel(tmp_path)
    local = ("--no-index", "--find-links", str(tmp_path), "--target", str(tmp_path / "there"))
    monkeypatch.setattr(install, "PIP", (sys.executable, "-m", "pip", "install", "--quiet", *local))
    path = tmp_path / "a.lock"
    path.write_text(f"{lock.platform_line()}\npellucid-probe==1 --hash=sha256:{'0' * 64}\n")
    with pytest.raises(SystemExit, match="A file is not the one in"):
        install.by_hashes(path)
    assert not (tmp_path / "there").exists()
    path.write_text(f"{lock.platform_line()}\npellucid-probe==2 --hash=sha256:{'0' * 64}\n")
    assert "pellucid-probe==2" in install.by_hashes(path)  # it cannot be had: the set-up goes on without hashes


def test_the_bill_lists_what_is_installed():
    whole = sbom.bill([distribution("numpy"), distribution("scipy")])
    assert (whole["bomFormat"], whole["specVersion"]) == ("CycloneDX", "1.6")
    assert [part["name"] for part in whole["components"]] == ["numpy", "scipy"]
    purls = {part["name"]: part["purl"] for part in whole["components"]}
    assert purls["numpy"] == f"pkg:pypi/numpy@{distribution('numpy').version}"
    assert {"ref": purls["scipy"], "dependsOn": [purls["numpy"]]} in whole["dependencies"]
    json.dumps(whole)


def test_no_host_of_a_registry_is_named():
    for name in ("Makefile", "constraints.txt", "requirements.lock", "pyproject.toml"):
        assert not re.search(r"https?://|--(extra-)?index-url|find-links", (ROOT / name).read_text(encoding="utf-8"))
