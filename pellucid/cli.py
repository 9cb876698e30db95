"""The `pellucid` command and its subcommands, by name: each is a function of its name, imported when it is run."""

import ast
import importlib
import os
import signal
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup

import pellucid
from pellucid.base.checks import command_line_syntax, known
from pellucid.base.entry import first_sentence
from pellucid.base.errors import BadSetting, Notice, OtherSegments, PellucidError, UnmatchedLabels
from pellucid.base.memory import is_memory_error, not_enough_memory
from pellucid.explaining.commands.safe_text import say

# Options, arguments and commands that do not fit; Typer gives the class no public name.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

MODULES = {
    "explain": "pellucid.explaining.commands.explain",
    "open": "pellucid.studio.command",
    "write": "pellucid.writing.commands",
    "translate": "pellucid.writing.commands",
    "bleu": "pellucid.writing.commands",
    "links": "pellucid.writing.commands",
    "words": "pellucid.words.command",
    "shortcuts": "pellucid.words.command",
    "jobs": "pellucid.corpus.command",
    "query": "pellucid.corpus.command",
    "figure": "pellucid.explaining.commands.files",
    "report": "pellucid.explaining.commands.files",
    "save": "pellucid.explaining.commands.files",
    "spans": "pellucid.evidence.commands",
    "layers": "pellucid.layers.commands",
    "concepts": "pellucid.layers.commands",
    "concepts find": "pellucid.discovery.command",
    "attention": "pellucid.attention.command",
    "extract": "pellucid.evidence.commands",
    "compare": "pellucid.comparison.command",
    "diff": "pellucid.versions.command",
    "errors": "pellucid.errors.command",
    "attack": "pellucid.attacks.commands",
    "blind-sheet": "pellucid.attacks.commands",
    "train": "pellucid.training.command",
    "train-translator": "pellucid.writing.train_command",
    "lens": "pellucid.layers.commands",
    "plant": "pellucid.explaining.commands.files",
    "verify": "pellucid.explaining.commands.files",
    "convert": "pellucid.explaining.commands.files",
    "formats": "pellucid.explaining.commands.lists",
    "methods": "pellucid.explaining.commands.lists",
    "attacks": "pellucid.explaining.commands.lists",
    "checks": "pellucid.explaining.commands.lists",
    "demo": "pellucid.cli",
}  # of each command, in the order in which help lists them


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the models and the report.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The seed of training and of all random draws.")] = 0,
) -> None:
    """Explain a small model at once; then train a self-explaining classifier and its plain twin, judge, and report."""
    from pellucid.demo import run_demo  # help imports nothing that computes

    run_demo(out, seed)


class CommandsByName(TyperGroup):
    """All commands, in the order in which help lists them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: _CommandInFile(name, help=_sentence(name)) for name in MODULES}

    def resolve_command(self, ctx: Any, args: Any) -> Any:
        """The command of that name, of one word or of two; raises `UnknownName` with the nearest one."""
        if " ".join(args[:2]) in MODULES:
            args = [" ".join(args[:2]), *args[2:]]
        known("command", args[0], MODULES)
        return super().resolve_command(ctx, args)


class _CommandInFile(TyperCommand):
    """A command whose options are not known before it runs."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        """The context of the imported command, which then parses the words and runs."""
        try:
            return _imported(str(self.name)).make_context(info_name, args, parent, **extra)
        except UsageError as error:
            message = str(error.format_message()).rstrip(".")  # type: ignore[attr-defined]
            raise BadSetting(f"{message}; pellucid {self.name} --help lists all options.") from None


def _imported(name: str) -> Any:
    application = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    application.command(name)(function_of(name))
    return typer.main.get_command(application)


def function_of(name: str) -> Callable[..., None]:
    """The function of a command; its file is imported."""
    function: Callable[..., None] = getattr(importlib.import_module(MODULES[name]), _function(name))
    return function


def _sentence(name: str) -> str:
    """The first sentence of the command's docstring, read from its file without importing it."""
    path = Path(__file__).parent.joinpath(*MODULES[name].split(".")[1:]).with_suffix(".py")
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return first_sentence(ast.get_docstring(next(node for node in functions if node.name == _function(name))))


def _function(name: str) -> str:
    """In names of functions stands _ for - and between words."""
    return name.replace("-", "_").replace(" ", "_")


# The `pellucid` command: its subcommands. When something is wrong it prints one clear sentence and ends with status
# 2.

INTERRUPTED = 130
GOES_ON = (
    "Interrupted; run the same command again: train, lens, demo, explain with --save, and explain, errors, compare, "
    "attack, extract, layers, attention and concepts find with --out go on where they were, others begin anew."
)

app = typer.Typer(
    cls=CommandsByName,
    help="Explain why a classifier answered or a model that writes wrote as it did, and test whether the explanation "
    "can be believed.",
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


def _print_version(ctx: typer.Context, wanted: bool) -> None:
    if wanted and ctx.params.get("verbose"):
        from pellucid.explaining.commands.installed import installed  # help imports nothing that computes

        say(installed())
    elif wanted:
        print(f"pellucid {pellucid.__version__}")
    if wanted:
        raise typer.Exit


@app.callback()
def _pellucid(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, help="Print the version and end.")
    ] = False,
    verbose: Annotated[  # eager: read before the version is printed
        bool,
        typer.Option("--verbose", is_eager=True, help="With --version: also what is installed, for reports of bugs."),
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
    except (
        Exception
    ) as error:  # libraries report it in many ways: a module that cannot be loaded, a tensor that cannot be allocated
        if not is_memory_error(error):
            raise
        sys.exit(_report(str(not_enough_memory("do this")), 2))


def _end_unread() -> NoReturn:
    """End with status 0 when the reader of our output closed it, as `head` does; the rest of the output is dropped."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
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

    Equal ones are printed once. Of labels that fit no class, and of pairs and single texts, the first alone is: it
    counts all texts, later ones a selection.
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
