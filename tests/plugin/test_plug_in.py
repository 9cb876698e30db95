"""A package of its own brings one extension of each kind: installed by pip, it is found, works, and passes the
contracts.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pellucid.base import kinds
from pellucid.base.catalogue import Catalogue
from tests.shared.tiny import save_tiny
from tests.shared.tiny_training import save_encoder

ROOT = Path(__file__).parents[2]
PACKAGE = Path(__file__).parent / "package"
CONTRACTS = {  # extension -> the file of contract tests over all of its kind
    "plugged_gradient": "test_every_attribution",
    "plugged_fall": "test_every_metric",
    "plugged_first": "test_every_check",
    "plugged_words": "test_every_extractor",
    "plugged_attention": "test_every_pooler",
    "plugged_peak": "test_every_penalty",
    "plugged_answers": "test_every_objective",
    "plugged_policy": "test_every_policy",
    "plugged_log": "test_every_format",
    "plugged_things": "test_every_dataset",
    "plugged_opening": "test_every_reason",
    "plugged_route": "test_every_route",
}

pytestmark = pytest.mark.whole


@pytest.fixture(scope="module")
def python(tmp_path_factory):
    """Run Python where the package is installed, without a network; returns what it printed."""
    folder = tmp_path_factory.mktemp("plug-in")
    source, site = shutil.copytree(PACKAGE, folder / "source"), folder / "site"
    flags = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet", "--disable-pip-version-check")
    install = [sys.executable, "-m", "pip", "install", *flags, "--target", str(site), str(source)]
    subprocess.run(install, check=True, cwd=folder, timeout=300)

    def run(*arguments, codes=(0,)):
        offline = {"HF_HUB_OFFLINE": "1", "OMP_NUM_THREADS": "1", "PYTHONIOENCODING": "utf-8"}
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            cwd=folder,
            env={**os.environ, **offline, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])},
            capture_output=True,
            encoding="utf-8",
            timeout=550,
        )
        assert done.returncode in codes, done.stdout[-5000:] + done.stderr[-5000:]
        return done.stdout

    return run


def test_groups_of_entry_points_are_public_names_and_all_different():
    catalogues = [one for one in vars(kinds).values() if isinstance(one, Catalogue)]
    groups = [catalogue.group for catalogue in catalogues]
    assert len(set(groups)) == len(groups) == 28
    assert all(re.fullmatch(r"pellucid\.[a-z]+", group) for group in groups)


def test_the_public_functions_use_every_extension(python, tmp_path):
    labels = ("negative", "positive")
    classifier = save_tiny(tmp_path / "classifier", labels=labels)
    encoder = save_encoder(tmp_path / "encoder")
    answers = json.loads(python(ROOT / "tests" / "plugin" / "program.py", classifier, encoder).splitlines()[-1])
    assert all(answers[name] for name in answers if "plugged" in name), answers
    assert 0 < answers["first"] < 1
    assert (answers["factor"], answers["policy"]) == (0.0, 0.0)
    assert -1 <= answers["fall"] <= 1 and answers["spans"] >= 1
    assert answers["weights"] == pytest.approx(1.0, abs=1e-5) and answers["loaded"] == 0.0
    assert answers["words"] == 6  # a weight a word; a comma and a full stop are words
    assert answers["route"] == "plugged_route" and answers["routed"] == 0.0
    assert (answers["remarks"], answers["planted"], answers["openings"]) == (2, 10, 2)


def test_every_extension_passes_the_contract_tests(python):
    """One run of every contract test that names an extension of the package; each kind with such a file has passed
    some.
    """
    files = {path.stem: path for path in ROOT.glob("tests/**/test_every_*.py")}
    options = (
        "-p",
        "no:cacheprovider",
        "-p",
        "pellucid_plugged.contract_inputs",
        "--rootdir",
        ROOT,
        "-rA",
        "-q",
    )
    existing = [files[name] for name in CONTRACTS.values() if name in files]
    lines = python("-m", "pytest", *options, "-k", "plugged", *existing).splitlines()
    passed = [line for line in lines if line.startswith("PASSED ")]
    for extension, name in CONTRACTS.items():
        assert name not in files or any(f"/{name}.py" in line and extension in line for line in passed), lines
