"""The page of which methods work with which models equals a new run, except for residuals, which differ by machine."""

import re
from functools import cache
from pathlib import Path

import pytest

from pellucid.base.kinds import attributions
from tests.capabilities import ABSENT, column, kinds
from tests.conftest import TEXTS
from tests.every_family import read, row
from tests.shared.families import MAPPING

COMMITTED = Path(__file__).parents[1] / "docs" / "capabilities.md"
# The kinds that differ most; all others take a run that is long.
SHORT = ("bert", "gpt2", "BERT + span pooler", "BERT + rationale pooler", "own layers", "any function")
RESIDUAL = re.compile(r"\b(?:0|1e-?\d+)\b")
ALLOWED = 1e-2  # scores near 0 magnify rounding; every other cell is far below


@cache
def committed() -> dict[str, dict[str, str]]:
    """Model -> method -> what the page says."""
    lines = [line.strip("| ").split(" | ") for line in COMMITTED.read_text(encoding="utf-8").splitlines()]
    head = next(line for line in lines if line[0] == "method")
    names, columns = head[1:], {name: {} for name in head[1:]}
    for line in lines:
        if len(line) == len(head) and line[0] in attributions.names():
            for name, cell in zip(names, line[1:], strict=True):
                columns[name][line[0]] = cell
        elif len(line) == 2 and line[0] in columns:
            columns[line[0]][ABSENT] = line[1]
    return columns


@cache
def committed_rows() -> dict[str, list[str]]:
    """Family -> what the page says of it."""
    return read(COMMITTED.read_text(encoding="utf-8").splitlines())


def test_the_committed_page_has_a_column_a_model():
    assert list(committed()) == list(kinds()), "make capabilities"


def test_the_committed_page_has_a_row_a_family():
    assert list(committed_rows()) == list(MAPPING), "make capabilities"


def test_the_committed_counts_are_those_of_its_rows():
    page = COMMITTED.read_text(encoding="utf-8")
    refused = sum(methods == "none" for _, methods, *_ in committed_rows().values())
    everything = sum(
        has.count(",") == 2 and methods.split(" of ")[0] == methods.split(" of ")[-1]
        for has, methods, *_ in committed_rows().values()
    )
    numbers = [int(number) for number in re.findall(r"\d+", page.partition("\nOf ")[2].partition("\n")[0])]
    assert numbers[:4] == [len(MAPPING), everything, len(MAPPING) - everything - refused, refused]


@pytest.mark.long
@pytest.mark.parametrize("family", MAPPING)
def test_the_committed_row_of_a_family_is_what_a_run_gives(family):
    (cells,) = read([str(row(family))]).values()
    assert cells == committed_rows()[family], "make capabilities"


@pytest.mark.parametrize(
    "kind",
    [pytest.param(kind, marks=pytest.mark.whole if kind in SHORT else pytest.mark.long) for kind in kinds()],
)
def test_the_committed_page_is_what_a_run_gives(kind, tmp_path):
    cells_now = column(kinds()[kind](tmp_path), TEXTS[:3])  # a sentence, a word and a pair say what is possible
    committed_cells = {method: RESIDUAL.sub("#", cell) for method, cell in committed()[kind].items()}
    assert {method: RESIDUAL.sub("#", cell) for method, cell in cells_now.items()} == committed_cells, (
        "make capabilities"
    )
    cells = [RESIDUAL.findall(cell)[:2] for method, cell in cells_now.items() if method != ABSENT]
    assert max(float(residual) for cell in cells for residual in cell) <= ALLOWED
