"""The page of what works with what is what a run gives; residuals differ by machine, what is possible does not."""

import re
from pathlib import Path

import pytest

from tests.capabilities import page

COMMITTED = Path(__file__).parents[1] / "docs" / "capabilities.md"
RESIDUAL = re.compile(r"\b(?:0|1e-?\d+)\b")
ALLOWED = 1e-2  # scores near 0 magnify rounding; every other cell is far below


@pytest.mark.whole
def test_the_committed_page_is_what_a_run_gives():
    made = page()
    assert RESIDUAL.sub("#", made) == RESIDUAL.sub("#", COMMITTED.read_text(encoding="utf-8")), (
        "make capabilities"
    )
    table = made[made.index("| model |") : made.index("## Tokens")]
    cells = [RESIDUAL.findall(cell)[:2] for line in table.splitlines()[2:] for cell in line.split("|")[2:]]
    assert max(float(found) for cell in cells for found in cell) <= ALLOWED
