"""When a process of the command line collects garbage."""

import json
import subprocess
import sys

import pytest

PROGRAM = """
import gc, json
from pellucid.__main__ import OBJECTS_AT_START, collect_late
usual, collections = gc.get_threshold(), gc.get_stats
collect_late()
before = collections()[0]["collections"]
start = [[] for _ in range(OBJECTS_AT_START - 100_000)]
at_start = collections()[0]["collections"] - before
more = [[] for _ in range(200_000)]
print(json.dumps([at_start, gc.get_threshold() == usual, gc.get_freeze_count() > OBJECTS_AT_START - 100_000, gc.callbacks]))
"""


def test_the_first_collection_comes_after_the_imports_and_later_ones_as_they_did():
    """Else a process with a long run keeps what should be collected, and one explanation pays a second for nothing."""
    printed = subprocess.run([sys.executable, "-c", PROGRAM], check=True, capture_output=True, text=True).stdout
    assert json.loads(printed) == [0, True, True, []]


@pytest.mark.parametrize(("before", "is_frozen"), [("", True), ("import sys; sys.modules['triton'] = sys", False)])
def test_the_end_leaves_memory_as_it_is_unless_a_library_counts_what_was_not_freed(before, is_frozen):
    """triton prints a page of leaks at the end where its types were frozen, also by the last collection of all."""
    program = f"""
import atexit, gc
from pellucid.__main__ import collect_late
atexit.register(lambda: print(gc.get_freeze_count() > 0, gc.callbacks))
collect_late()
{before}
"""
    printed = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
    assert printed.split() == [str(is_frozen), "[]"]
