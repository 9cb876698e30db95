"""How long work tells how far it is: one callable, called with a stage, what is done and what there is to do."""

from collections.abc import Callable

Progress = Callable[[str, int, int], None]


def silent(stage: str, done: int, total: int) -> None:
    """Tell nobody."""
