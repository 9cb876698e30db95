"""Rows of an earlier run whose text and question are the same are copied instead of computed.

Which rows these are is decided in the plan, so that it does not depend on who computes when.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.base.checks import changes
from pellucid.base.errors import BadFile
from pellucid.corpus.folder import KEYS, REUSED, Job, RunFolder
from pellucid.corpus.record import Run, open_run
from pellucid.corpus.shard import Reused, no_reused

REUSE = "reuse"  # in a question, the folder of the earlier run
NOT_THERE = -1


def check_reusable(earlier: Path, question: dict[str, Any]) -> None:
    """Raise `BadFile` where the earlier folder holds no run, or one whose scores would be others."""
    job = open_run(earlier).job
    before, now = (
        {name: value for name, value in asked.items() if name not in ("data", REUSE)}
        for asked in (job.question, question)
    )
    if difference := changes(before, now):
        raise BadFile(f"Rows of {earlier} cannot be reused ({difference}); leave it away, or ask as that run did.")


def save_matches(folder: RunFolder, earlier: Path) -> None:
    """Write for each row the row of the earlier run that has its text and an explanation, or -1."""
    run = open_run(earlier)
    rows = np.asarray(run.rows)
    old, new = (np.ascontiguousarray(keys).view(np.uint64) for keys in (run.folder.array(KEYS), folder.array(KEYS)))
    order = rows[np.lexsort((old[rows, 1], old[rows, 0]))]
    places = np.searchsorted(old[order, 0], new[:, 0])
    places = np.minimum(places, max(0, len(order) - 1))
    matches = np.full(len(new), NOT_THERE, dtype=np.int64)
    if len(order):
        candidates = order[places]
        same = (old[candidates] == new).all(1)  # of two keys with one first half the second is computed again
        matches[same] = candidates[same]
    folder.save_array(REUSED, matches)


def reused_rows(folder: RunFolder, job: Job) -> Reused:
    """What gives the records of rows that the earlier run has; nothing where the question names no earlier run."""
    earlier = job.question.get(REUSE)
    if earlier is None:
        return no_reused
    matches, run = folder.array(REUSED), _opened(str(earlier))
    return lambda rows: {row: run.record(int(matches[row])) for row in rows if matches[row] != NOT_THERE}


@lru_cache(maxsize=1)
def _opened(path: str) -> Run:
    return open_run(path)
