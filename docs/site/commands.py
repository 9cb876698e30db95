"""The page of the commands: what `--help` says of each, from the same objects.

`make site` writes it anew each time, so that it says what the commands say.
"""

from typing import Any

import typer

from docs.site.python_names import escaped
from pellucid.cli import MODULES, function_of

HEAD = """# Commands

What `pellucid COMMAND --help` says, for all commands in the order in which `pellucid --help` lists them. How they are
used, with examples: [the command line](../how-to/command-line.md). The same from Python: [all names](python.md).
"""
TYPES = {
    "str": "words",
    "path": "a path",
    "int": "a whole number",
    "int range": "a whole number",
    "float": "a number",
    "float range": "a number",
}  # of Typer, in words


def page() -> str:
    """The page, in Markdown."""
    return "\n".join([HEAD, *(section(name) for name in MODULES)])


def section(name: str) -> str:
    """One command: its sentence, how it is called, its arguments and options."""
    command = command_of(name)
    arguments = [each for each in command.params if each.param_type_name == "argument"]
    options = [each for each in command.params if each.param_type_name == "option"]
    context = command.context_class(command, info_name=name)
    usage = " ".join(["pellucid", name, *map(written, arguments), "[OPTIONS]"])
    parts = [f"## {name}\n", f"{escaped(command.help or '')}\n", f"```text\n{usage}\n```\n"]
    if arguments:
        rows = [f"| `{each.name.upper()}` | {about(each)} |" for each in arguments]
        parts += ["| argument | what it is |", "|---|---|", *rows, ""]
    rows = [f"| {names(each)} | {value(each, context)} | {about(each)} |" for each in options]
    return "\n".join([*parts, "| option | takes | what it does |", "|---|---|---|", *rows, ""])


def command_of(name: str) -> Any:
    """A command, as Typer makes it."""
    application = typer.Typer(add_completion=False)
    application.command(name)(function_of(name))
    return typer.main.get_command(application)


def written(argument: Any) -> str:
    """An argument as it stands in the line of usage."""
    name = f"{argument.name.upper()}{' …' if argument.nargs != 1 else ''}"
    return name if argument.required else f"[{name}]"


def names(option: Any) -> str:
    """An option as one writes it."""
    return ", ".join(f"`{each}`" for each in (*option.opts, *option.secondary_opts))


def value(option: Any, context: Any) -> str:
    """What follows an option, and what stands for it where the option is left out."""
    if option.is_flag:
        return ""
    kind = option.display_type(context).strip("<>").removeprefix("list[").removesuffix("]")
    several = ", again for more" if option.multiple else ""
    usual = "" if option.default in (None, (), []) or callable(option.default) else f"; `{option.default}`"
    return f"{TYPES.get(kind.lower(), escaped(kind))}{several}{usual}{'; needed' if option.required else ''}"


def about(parameter: Any) -> str:
    """The help of a parameter, in one line of a table."""
    return escaped(parameter.help or "")
