"""Shows how far the work is: a bar in a terminal; elsewhere, on request, a line every ten per cent."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from pellucid.core.foundation.progress import Progress as Report
from pellucid.core.foundation.progress import silent
from pellucid.reports.markup.escape import plain


@contextmanager
def progress_bar(show: bool | None = None) -> Iterator[Report]:
    """Yield a function (stage, done, total) that writes to the standard error.

    show: None draws a bar if the standard error is a terminal. True also prints lines elsewhere. False is silent.
    """
    in_terminal = sys.stderr.isatty()
    if show is False or (show is None and not in_terminal):
        yield silent
    elif in_terminal:
        yield from _bar()
    else:
        yield _lines()


def _bar() -> Iterator[Report]:
    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        current = ""

        def report(stage: str, done: int, total: int) -> None:
            nonlocal current
            if stage != current:
                current = stage
                bar.reset(task, description=plain(stage), total=total)
            bar.update(task, completed=done, total=total)

        yield report


def _lines() -> Callable[[str, int, int], None]:
    last: tuple[str, int] = ("", -1)

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last
        tenth = 10 * done // total if total > 0 else 10
        if (stage, tenth) != last and (stage != last[0] or tenth > last[1]):
            last = (stage, tenth)
            print(f"{plain(stage)}: {tenth * 10} %", file=sys.stderr, flush=True)

    return report
