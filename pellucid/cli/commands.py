"""The commands by name: each is the function of that name in the file of that name, imported when it is run.

In names of files and functions stands _ for -. Commands of models that write, and of attacks, are in folders of their own.

`pellucid --help` reads their names and first sentences only, so it does not wait for what they need.
"""

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from pellucid.base.checks import known
from pellucid.base.entry import first_sentence
from pellucid.base.errors import BadSetting

# Options, arguments and commands that do not fit; Typer gives the class no public name.
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

NAMES = (
    "explain",
    "write",
    "translate",
    "bleu",
    "links",
    "words",
    "figure",
    "spans",
    "layers",
    "concepts",
    "attention",
    "extract",
    "compare",
    "diff",
    "errors",
    "attack",
    "blind-sheet",
    "train",
    "train-translator",
    "lens",
    "plant",
    "verify",
    "convert",
    "formats",
    "methods",
    "attacks",
    "checks",
    "demo",
)


FOLDERS = {
    **dict.fromkeys(("write", "translate", "bleu", "links", "train-translator"), "writing"),
    **dict.fromkeys(("attack", "attacks", "blind-sheet"), "attacking"),
}  # commands with a folder of their own


class CommandsByName(TyperGroup):
    """All commands, in the order in which help lists them."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        self.commands = {name: _CommandInFile(name, help=_sentence(name)) for name in NAMES}

    def resolve_command(self, ctx: Any, args: Any) -> Any:
        """The command of that name; raises `UnknownName` with the nearest one."""
        known("command", args[0], NAMES)
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
    one = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
    one.command(name)(function_of(name))
    return typer.main.get_command(one)


def function_of(name: str) -> Callable[..., None]:
    """The function of a command; its file is imported."""
    function: Callable[..., None] = getattr(
        importlib.import_module(f"pellucid.cli.{_module(name)}"), _function(name)
    )
    return function


def _sentence(name: str) -> str:
    """The first sentence of the command's docstring."""
    path = Path(__file__).parent / f"{_module(name).replace('.', '/')}.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = (node for node in tree.body if isinstance(node, ast.FunctionDef))
    return first_sentence(ast.get_docstring(next(node for node in functions if node.name == _function(name))))


def _module(name: str) -> str:
    """The file of a command, from this folder on."""
    return f"{FOLDERS[name]}.{_function(name)}" if name in FOLDERS else _function(name)


def _function(name: str) -> str:
    return name.replace("-", "_")
