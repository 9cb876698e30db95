"""The format that the documentation adds works as it stands there, in a process of its own."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.data.formats.originals import write

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "how-to" / "add-a-dataset.md"
PROGRAM = (
    "import chat_log, pellucid; print(*(one.text for one in pellucid.examples('logs', format='chat_log', by='ann')))"
)


@pytest.mark.whole
def test_the_format_of_the_documentation_works(tmp_path):
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    (block,) = (block for block in blocks if "formats.add" in block)
    write(tmp_path / "chat_log.py", block)
    write(tmp_path / "logs" / "test.log", "ann\tHello.\nbob\tWho?\nann\tMe.\n")
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])},
        capture_output=True,
        encoding="utf-8",
        timeout=300,
    )
    assert done.stdout.strip() == "Hello. Me.", done.stderr
