"""The `pellucid` command: its subcommands, and one clear sentence with exit status 2 when something is wrong."""

import os
import signal
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any, NoReturn

import typer

from pellucid.cli.compare import compare
from pellucid.cli.convert import convert
from pellucid.cli.demo import demo
from pellucid.cli.errors import errors
from pellucid.cli.explain import explain
from pellucid.cli.extract import extract
from pellucid.cli.formats import formats
from pellucid.cli.methods import methods
from pellucid.cli.plant import plant
from pellucid.cli.safe_text import say
from pellucid.cli.spans import spans
from pellucid.cli.train import train
from pellucid.core.foundation.errors import PellucidError
from pellucid.core.foundation.memory import is_memory_error, not_enough_memory
from pellucid.datasets.shared.rows import SkippedRows

INTERRUPTED = 130
GOES_ON = "Interrupted; run the same command again: train, demo and compare --out go on where they were, others begin anew."

app = typer.Typer(
    help="Why a text classifier decided as it did, and whether that explanation can be believed.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (explain, spans, extract, compare, errors, train, plant, convert, formats, methods, demo):
    app.command()(command)


def main() -> None:
    """Run a command; a mistake of the user's ends in one sentence on standard error and exit status 2."""
    _print_what_can_be()
    try:
        with _plain_warnings(), _termination_interrupts(), _written_out():
            app()
    except PellucidError as error:
        sys.exit(_told(str(error), 2))
    except KeyboardInterrupt:
        sys.exit(_told(GOES_ON, INTERRUPTED))
    except SystemExit as ended:
        if isinstance(ended.__context__, BrokenPipeError):  # of which Typer makes status 1
            _end_unread()
        if ended.code == INTERRUPTED:  # inside a command, Typer makes this of Ctrl-C
            _told(GOES_ON, INTERRUPTED)
        raise
    except BrokenPipeError:
        _end_unread()
    except OSError as error:
        name = f" {error.filename}" if error.filename else ""
        sys.exit(_told(f"The system refused{name}: {error.strerror or error}.", 2))
    except (
        Exception
    ) as error:  # libraries say it in many ways: a part that cannot be loaded, a tensor that cannot be made
        if not is_memory_error(error):
            raise
        sys.exit(_told(str(not_enough_memory("do this")), 2))


def _end_unread() -> NoReturn:
    """End well where the reader of our output went away, as `head` does; what is still unwritten goes nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for number in (1, 2):
        os.dup2(nowhere, number)
    sys.exit(0)


def _print_what_can_be() -> None:
    """Characters that the terminal's encoding lacks, and bytes of names that are no text, are printed as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


@contextmanager
def _termination_interrupts() -> Iterator[None]:
    """Being asked to end (SIGTERM) is the same as Ctrl-C."""
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


@contextmanager
def _written_out() -> Iterator[None]:
    """What was printed is written before the command ends, so that a full disk can still be told."""
    try:
        yield
    finally:
        try:
            sys.stdout.flush()
        except OSError:
            with suppress(OSError):
                sys.stdout.close()  # else Python tries again as it ends, and tells it in its own way
            raise


@contextmanager
def _plain_warnings() -> Iterator[None]:
    """Rows that were left out are told in one sentence on standard error; other warnings stay as they are."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def show(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
            if issubclass(category, SkippedRows):
                _told(str(message), 0)
            else:
                shown(message, category, *place, **more)

        warnings.simplefilter("always", SkippedRows)
        warnings.showwarning = show
        yield


def _told(sentence: str, status: int) -> int:
    say(" ".join(sentence.split()), aside=True)
    return status
