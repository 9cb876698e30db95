"""Shows how far long work is: a bar in a terminal; elsewhere a line once it is clear how long it takes, then one a minute."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from pellucid.core.foundation.progress import Progress as Report
from pellucid.core.foundation.progress import silent
from pellucid.reports.markup.escape import plain
from pellucid.reports.terminal.pace import Pace


@contextmanager
def progress_bar(show: bool | None = None) -> Iterator[Report]:
    """Yield a function (stage, done, total) that writes to the standard error.

    show: None draws a bar if the standard error is a terminal; elsewhere it prints a line about work of more than a minute:
    how much is done and about how long the rest takes, again every minute. True prints a line every ten per cent there,
    too. False is silent.
    """
    if show is False:
        yield silent
    elif sys.stderr.isatty():
        yield from _bar()
    else:
        yield _lines(tenths=show is True)


def _bar() -> Iterator[Report]:
    # Only here: a call in a script or a log needs nothing of it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)
        current, pace, is_long = "", Pace(), False

        def report(stage: str, done: int, total: int) -> None:
            nonlocal current, is_long
            if stage != current:
                current, is_long = stage, False
                bar.reset(task, description=plain(stage), total=total)
            bar.update(task, completed=done, total=total)
            sentence = pace.sentence(stage, done, total)
            if sentence and not is_long:  # the bar itself says the rest
                is_long = True
                bar.console.print(plain(sentence), markup=False, highlight=False)

        yield report


def _lines(tenths: bool) -> Callable[[str, int, int], None]:
    """tenths: whether to print a line every ten per cent, too."""
    last: tuple[str, int] = ("", -1)
    pace = Pace()

    def report(stage: str, done: int, total: int) -> None:
        nonlocal last
        tenth = 10 * done // total if total > 0 else 10
        if tenths and (stage, tenth) != last and (stage != last[0] or tenth > last[1]):
            last = (stage, tenth)
            print(f"{plain(stage)}: {tenth * 10} %", file=sys.stderr, flush=True)
        if sentence := pace.sentence(stage, done, total):
            print(plain(sentence), file=sys.stderr, flush=True)

    return report
