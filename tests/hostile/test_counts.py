"""Together the properties run on ten thousand generated cases and more; each test fails where it ran on fewer than it
says.
"""

import importlib
from pathlib import Path

from tests.hostile.generated_cases import MANY


def test_there_are_ten_thousand_cases():
    for path in Path(__file__).parent.glob("test_*.py"):
        importlib.import_module(f"tests.hostile.{path.stem}")
    assert sum(MANY.values()) >= 10_000
