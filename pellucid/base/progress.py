"""Progress of long work: a callback with the stage, how much is done, and how much there is to do."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """A callback that does nothing."""
