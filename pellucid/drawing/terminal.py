"""Lines for a terminal, by rich, without colours where it is none; and how far long work is."""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from inspect import signature
from io import StringIO
from types import FunctionType, MethodType

from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Grid
from rich.text import Text

from pellucid.base.errors import BadSetting
from pellucid.base.processes import Progress as Report
from pellucid.base.processes import silent
from pellucid.drawing.html import plain

Line = Text | Padding
INDENT = 3


def wants_colour(colour: bool | None) -> bool:
    """The choice of the caller; None: whether the standard output is a terminal that shows colours, and may.

    NO_COLOR: the variable by which people ask programs for none (no-color.org).
    """
    if colour is not None:
        return colour
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("NO_COLOR")


def line(text: str, style: str = "") -> Text:
    """A line whose hostile characters are harmless."""
    return Text(plain(text), style=style)


def indented(texts: Iterable[str | Text]) -> list[Line]:
    """Lines that stand further to the right."""
    lines = (line(text) if isinstance(text, str) else text for text in texts)
    return [Padding(text, (0, 0, 0, INDENT)) for text in lines]


def block(title: str, facts: Iterable[str]) -> list[Line]:
    """An empty line, a title in bold, and facts under it."""
    return [Text(""), line(title, style="bold"), *indented(facts)]


def caution_lines(caveats: Iterable[str]) -> list[Text]:
    """A line for each caveat; each begins with the word Caution."""
    return [line(f"Caution: {caveat}") for caveat in caveats]


def printed(lines: Sequence[Line | Grid], colour: bool | None, width: int | None) -> str:
    """The lines as rich prints them, without blanks at their ends; colour, width: as the renderers take them."""
    file, colour = StringIO(), wants_colour(colour)
    console = Console(
        file=file,
        width=width,
        force_terminal=colour,
        color_system="truecolor" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for each in lines:
        console.print(each)
    return "\n".join(row.rstrip() for row in file.getvalue().splitlines()) + "\n"


# Shows how far long work is: a bar in a terminal; elsewhere a line once it is clear how long it takes, then one a
# minute.


@contextmanager
def progress_bar(show: "bool | Report | None" = None) -> Iterator[Report]:
    """Yield a function (stage, done, total) that writes to the standard error; the caller's own where one is given.

    show: None draws a bar if the standard error is a terminal; elsewhere it prints a line about work of more than a
    minute: how much is done and about how long the rest takes, again every minute. True prints a line every ten per
    cent there, too. False is silent.
    """
    if callable(show):
        _check_report(show)
        yield show
    elif show is False:
        yield silent
    elif sys.stderr.isatty():
        yield from _bar()
    else:
        yield _lines(tenths=show is True)


def _check_report(report: Report) -> None:
    """Raise `BadSetting` for what is no function, or takes something else than a stage and two numbers."""
    try:
        is_function = isinstance(report, FunctionType | MethodType | partial)
        signature(report).bind("stage", 0, 1)
    except (TypeError, ValueError):
        is_function = False
    if not is_function:
        raise BadSetting(
            f"progress= came as {type(report).__name__}; give a function of a stage, how much is done, and of how "
            f"much, or True, False or None."
        )


def _bar() -> Iterator[Report]:
    # Only here: a call in a script or a log needs nothing of it.
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

    columns = (
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[left]}", markup=False),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None, left="")
        current, pace, is_long = "", Pace(), False

        def report(stage: str, done: int, total: int) -> None:
            nonlocal current, is_long
            if stage != current:
                current, is_long = stage, False
                bar.reset(task, description=plain(stage), total=total)
            sentence = pace.sentence(stage, done, total)
            left = "" if pace.left is None else f"about {duration(pace.left)} left"
            bar.update(task, completed=done, total=total, left=left)
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


# How long work will still take, judging by what is done so far, and when to say so.

MINUTE = 60.0
INSTANT = 1.0  # what is done in the first second may have been finished before, such as parts of a resumed comparison
WARM_UP = 30.0  # a first batch that is quicker than this says little: imports and checks of the model are part of it
TRIAL = 10.0  # seconds of work before its pace is believed: the first of it is of few texts, or of odd ones


MOST_REPORTS = 1000  # of which every other one is forgotten beyond that


class Pace:
    """Watches the stages of one piece of work. clock: gives seconds.

    The rate is that of the recent work: of the last half of the time, ten seconds or more. left: about how many seconds
    the stage still takes; None while that is not known.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._stage, self._total = "", -1
        self._last = self._begun = clock()  # when the last report came, and when the stage began
        self._reports = [(self._last, 0)]  # what was done at which time, from where the rate counts
        self.left: float | None = None
        self._is_warm = False  # whether a first batch of this stage has run
        self._spoken: float | None = None  # when the last sentence of this stage came

    def sentence(self, stage: str, done: int, total: int) -> str | None:
        """What to say at this report of progress: how much of a stage is done and about how long the rest takes.

        The first sentence of a stage comes as soon as its pace is known, if it takes more than a minute in all; then
        one comes a minute. The time of a quick first batch does not count. None: nothing is to be said.
        """
        now = self._clock()
        if (stage, total) != (self._stage, self._total):
            self._stage, self._total, self._spoken = stage, total, None
            self._begun, self._reports = self._last, [(self._last, 0)]
            self._is_warm = False
        self._last = now
        if now - self._begun < (INSTANT if self._is_warm else WARM_UP):
            self._reports = []
        self._is_warm = self._is_warm or now - self._begun >= INSTANT
        self._reports.append((now, done))
        self.left = left = seconds_left(self._reports, total)
        if left is None:
            return None
        due = now - self._begun + left > MINUTE if self._spoken is None else now - self._spoken >= MINUTE
        if not due:
            return None
        self._spoken = now
        return f"{stage}: {done:,} of {total:,} done, about {duration(left)} left"


def seconds_left(reports: list[tuple[float, int]], total: int) -> float | None:
    """How many seconds the rest takes at the rate of the recent work; None below ten seconds of it, or at the end.

    reports: (second, done), oldest first; those that no later rate needs are taken out of the list.
    """
    now, done = reports[-1]
    recent = max(TRIAL, (now - reports[0][0]) / 2)
    start = next(((second, before) for second, before in reversed(reports) if now - second >= recent), None)
    if start is None or done <= start[1] or done >= total:
        return None
    if len(reports) > MOST_REPORTS:
        reports[:] = [*reports[:-1:2], reports[-1]]
    return (now - start[0]) / (done - start[1]) * (total - done)


def duration(seconds: float) -> str:
    """Seconds as people say them: "20 seconds", "7 minutes", "2.5 hours"."""
    if seconds < MINUTE:
        return f"{max(round(seconds, -1), 10):.0f} seconds"
    minutes = round(seconds / MINUTE)
    if minutes < 90:
        return f"{minutes} minute{'s' if minutes > 1 else ''}"
    return f"{minutes / 60:.1f} hours"
