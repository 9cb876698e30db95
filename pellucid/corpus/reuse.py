"""Rows of an earlier run whose key is the same are copied instead of computed."""

from __future__ import annotations

from pellucid.corpus.folder import Job
from pellucid.corpus.shard import Reused, no_reused


def reused_rows(job: Job) -> Reused:
    """What finds rows of the earlier run; nothing where the job names none."""
    return no_reused
