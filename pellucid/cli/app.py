"""The `pellucid` command: its subcommands. When something is wrong it prints one clear sentence and ends with status 2."""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Annotated, Any, NoReturn

import typer

import pellucid
from pellucid.base.errors import PellucidError
from pellucid.base.memory import is_memory_error, not_enough_memory
from pellucid.base.notices import Notice, OtherSegments, UnmatchedLabels
from pellucid.base.wording import command_line_syntax
from pellucid.cli.commands import CommandsByName
from pellucid.cli.options.safe_text import say

INTERRUPTED = 130
GOES_ON = "Interrupted; run the same command again: train, lens, demo, and compare, attack, layers and attention with --out go on where they were, others begin anew."

app = typer.Typer(
    cls=CommandsByName,
    help="Explain why a classifier answered or a model that writes wrote as it did, and test whether the explanation can be believed.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"pellucid {pellucid.__version__}")
        raise typer.Exit


@app.callback()
def _pellucid(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and end."),
    ] = False,
) -> None:
    """The commands stand in `commands`."""


def main() -> None:
    """Run a command. A mistake by the user ends in one sentence on standard error and exit status 2."""
    _escape_unprintable()
    try:
        with command_line_syntax(), _plain_warnings(), _termination_interrupts(), _written_out():
            app()
    except PellucidError as error:
        sys.exit(_report(str(error), 2))
    except KeyboardInterrupt:
        sys.exit(_report(GOES_ON, INTERRUPTED))
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # of which Typer makes status 1
            _end_unread()
        if ended.code == INTERRUPTED:  # inside a command, Typer makes this of Ctrl-C
            _report(GOES_ON, INTERRUPTED)
        raise
    except BrokenPipeError:
        _end_unread()
    except OSError as error:
        name = f" {error.filename}" if error.filename else ""
        sys.exit(_report(f"The system refused{name}: {error.strerror or error}.", 2))
    except Exception as error:  # libraries report it in many ways: a module that cannot be loaded, a tensor that cannot be allocated
        if not is_memory_error(error):
            raise
        sys.exit(_report(str(not_enough_memory("do this")), 2))


def _end_unread() -> NoReturn:
    """End with status 0 when the reader of our output closed it, as `head` does; the rest of the output is dropped."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    sys.exit(0)


def _escape_unprintable() -> None:
    """Print as escapes what the terminal's encoding cannot show: other characters, and file names that are not text."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Treat a request to end (SIGTERM) like Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _written_out() -> Iterator[None]:
    """Flush the output before the command ends, so that a full disk can still be reported."""
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            with suppress(OSError):
                sys.stdout.close()  # else Python flushes again as it ends, and prints an error of its own
            raise


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Print the warnings that are meant for people as sentences on standard error; leave others as they are.

    Equal ones are printed once. Of labels that fit no class, and of pairs and single texts, the first alone is: it counts all texts,
    later ones a selection.
    """
    printed: set[object] = set()
    with warnings.catch_warnings():
        show_other = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *location: Any, **more: Any) -> None:
            if issubclass(category, Notice):
                sentence = category if category in (UnmatchedLabels, OtherSegments) else str(message)
                if sentence not in printed:
                    _report(str(message), 0)
                printed.add(sentence)
            else:
                show_other(message, category, *location, **more)

        warnings.simplefilter("always", Notice)
        warnings.showwarning = show
        yield


def _report(sentence: str, status: int) -> int:
    """Print a sentence on standard error; returns the exit status that goes with it."""
    say(" ".join(sentence.split()), aside=True)
    return status
