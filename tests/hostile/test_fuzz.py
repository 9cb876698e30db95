"""Files of every kind, spoilt: whatever they say, what comes is a result or a `PellucidError`, in bounds of time and
memory.
"""

import sys
import traceback

import pytest

from tests.hostile.entry_points import entry_points
from tests.hostile.fuzz import TooLong, case_of, run

MOST_SHOWN = 8


@pytest.fixture(scope="module")
def every(tmp_path_factory):
    return entry_points(tmp_path_factory.mktemp("right"))


@pytest.mark.skipif(sys.platform != "linux", reason="bounds of memory are Linux's")
@pytest.mark.parametrize("cases", [80, pytest.param(5000, marks=[pytest.mark.long, pytest.mark.timeout(3600)])])
def test_spoilt_files_are_read_or_refused(every, tmp_path, monkeypatch, record_property, cases):
    monkeypatch.setattr("datasets.config.HF_DATASETS_CACHE", tmp_path / "cache")
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    failures = [failure for number in range(cases) if (failure := _failure(number, every, tmp_path / "spoilt"))]
    record_property("generated cases", cases)
    assert not failures, f"{len(failures)} of {cases}:\n" + "\n".join(failures[:MOST_SHOWN])


def _failure(number, every, folder):
    """The recipe of a case that ends in anything but a result or a `PellucidError`, with the error's last lines."""
    case = case_of(number, every)
    try:
        run(case, every, folder)
    except (Exception, TooLong) as error:
        return f"{case}\n    " + "".join(traceback.format_exception(error)[-3:]).replace("\n", "\n    ")
    return None
