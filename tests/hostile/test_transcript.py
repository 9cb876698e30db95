"""The page of error messages shows the messages of today."""

from pathlib import Path

import pytest

from pellucid.base import errors
from tests.hostile.transcript import SITUATIONS, transcript

PAGE = Path(__file__).parents[2] / "docs" / "error-messages.md"


@pytest.mark.whole
def test_the_page_is_what_comes_today():
    page = transcript()
    assert PAGE.read_text(encoding="utf-8") == page, "python -m tests.hostile.transcript > docs/error-messages.md"
    assert "/tmp" not in page and "Traceback" not in page


def test_every_kind_of_error_is_brought_about():
    assert sum(map(len, SITUATIONS.values())) >= 40
    page = PAGE.read_text(encoding="utf-8")
    for kind in errors.PellucidError.__subclasses__():
        assert f"\n{kind.__name__}: " in page, kind
