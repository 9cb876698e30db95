"""`pellucid --version --verbose`: what a report of a bug needs, and nothing of whose machine it is."""

import platform
import sys

import numpy
import pytest
import torch

import pellucid
from pellucid.cli import main
from pellucid.explaining.commands import installed


@pytest.mark.parametrize("words", (["--version", "--verbose"], ["--verbose", "--version"]), ids=" ".join)
def test_versions_processor_and_extras_are_printed(words, monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["pellucid", *words])
    with pytest.raises(SystemExit) as ended:
        main()
    lines = dict(line.split("  ", 1) for line in capsys.readouterr().out.splitlines())
    facts = {name.strip(): text.strip() for name, text in lines.items()}
    assert not ended.value.code
    assert (facts["pellucid"], facts["numpy"]) == (pellucid.__version__, numpy.__version__)
    assert facts["torch"] == torch.__version__ and platform.python_version() in facts["Python"]
    assert facts["processor"] and "cpu" in facts["devices"] and facts["extra studio"].startswith("starlette ")
    assert not any("/" in text or "\\" in text for text in facts.values())


def test_a_broken_torch_is_reported_without_its_path(monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert installed.devices() == "torch cannot be imported (ModuleNotFoundError)"


def test_a_missing_package_is_named(monkeypatch):
    monkeypatch.setattr(
        installed, "requires", lambda _: ["no-such-package; extra == 'studio'", "pytest; extra == 'dev'"]
    )
    assert installed.extras() == {"studio": ["no-such-package not installed"]}
