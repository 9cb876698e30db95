"""A notice stands at the line of the caller that called Pellucid, wherever that line is."""

import subprocess
import sys
from pathlib import Path

import pytest

from pellucid.base import errors as notices

SCRIPT = """from pellucid.base.errors import notify
def door():
    notify("One sentence.")
door()
"""


@pytest.mark.parametrize("beside_the_package", (False, True))
def test_the_callers_line_is_shown(tmp_path, monkeypatch, beside_the_package):
    """Also of a script whose path begins as the package does."""
    package = Path(notices.__file__).parents[2]
    root = package.parent if beside_the_package else tmp_path
    script = Path(f"{root}/pellucid_try.py")
    code = f"import sys; exec(compile({SCRIPT!r}, {str(script)!r}, 'exec'))"
    monkeypatch.setenv("PYTHONPATH", str(package.parent))
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=tmp_path).stderr
    assert shown.startswith(f"{script}:3: Notice: One sentence.")
