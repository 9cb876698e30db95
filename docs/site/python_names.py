"""The page of Python: each public name with its signature and its docstring, read from files that are not imported.

`make site` writes it anew each time, so that it says what the code says.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGE = "pellucid"
WIDTH = 100  # of a signature; a longer one has a line for each argument
HEAD = """# Python

Every public name, after `import pellucid`. The examples are run by a test. What each method, metric, check and attack
computes stands on [pages of their own](../methods/README.md); the same from a terminal: [the commands](commands.md).
"""
Definition = ast.FunctionDef | ast.ClassDef


@dataclass(frozen=True)
class Place:
    """A definition and the module that it stands in."""

    module: str
    node: Definition


@cache
def tree(module: str) -> ast.Module:
    """The syntax tree of a module, without importing it."""
    path = ROOT.joinpath(*module.split("."))
    file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    return ast.parse(file.read_text(encoding="utf-8"))


@cache
def imported(module: str) -> dict[str, tuple[str, str]]:
    """The names that a module imports from others: (module, name there)."""
    nodes = [node for node in ast.walk(tree(module)) if isinstance(node, ast.ImportFrom) and node.module]
    return {alias.asname or alias.name: (str(node.module), alias.name) for node in nodes for alias in node.names}


def place_of(module: str, name: str) -> Place | None:
    """Where a name of the package is defined, through all that only hand it on; None: in another package."""
    for node in tree(module).body:
        if isinstance(node, Definition) and node.name == name:
            return Place(module, node)
    source = imported(module).get(name)
    return place_of(*source) if source is not None and source[0].split(".")[0] == PACKAGE else None


def public_names() -> list[str]:
    """What `pellucid.__all__` lists."""
    for node in tree(PACKAGE).body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return list(ast.literal_eval(node.value))
    raise SystemExit("pellucid/__init__.py has no __all__, which lists the public names; write one.")


def page() -> str:
    """The page, in Markdown: functions, then classes."""
    places = {name: place_of(PACKAGE, name) for name in public_names()}
    missing = [name for name, place in places.items() if place is None]
    if missing:
        raise SystemExit(
            f"No file of the package defines the public names {missing}; define them or take them from __all__."
        )
    classes = {name: place for name, place in places.items() if place and isinstance(place.node, ast.ClassDef)}
    functions = {name: place for name, place in places.items() if place and name not in classes}
    parts = [HEAD, "## Functions\n", *(entry(f"pellucid.{name}", place) for name, place in functions.items())]
    return "\n".join([*parts, "## Classes\n", *(of_class(name, place) for name, place in classes.items())])


def entry(title: str, place: Place, level: int = 3) -> str:
    """A heading, the signature and the docstring."""
    short = title.removeprefix(f"{PACKAGE}.")
    code = f"```python\n{signature(title, place.node)}\n```\n\n"
    return f"{'#' * level} {short}\n\n{code}{as_markdown(ast.get_docstring(place.node) or '', names_in(place.node))}\n"


def of_class(name: str, place: Place) -> str:
    """A class and its public methods, those of its bases too."""
    methods = {method.node.name: method for method in methods_of(place)}
    return "\n".join(
        [entry(f"pellucid.{name}", place), *(entry(f"{name}.{each}", method, 4) for each, method in methods.items())]
    )


def methods_of(place: Place) -> Iterator[Place]:
    """The methods of a class that have a docstring; of two with one name, that of the class itself comes last."""
    assert isinstance(place.node, ast.ClassDef)
    for base in place.node.bases:
        name = ast.unparse(base).partition("[")[0]
        above = place_of(place.module, name) if name.isidentifier() else None
        if above is not None and isinstance(above.node, ast.ClassDef):
            yield from methods_of(above)
    for node in place.node.body:
        if isinstance(node, ast.FunctionDef) and not node.name.startswith("_") and ast.get_docstring(node):
            yield Place(place.module, node)


def signature(title: str, node: Definition) -> str:
    """How a name is called, with the types; a property is only read."""
    if isinstance(node, ast.ClassDef):
        return call(title, fields(node), "")
    if any(ast.unparse(each) in ("property", "cached_property") for each in node.decorator_list):
        return f"{title}: {ast.unparse(node.returns)}" if node.returns else title
    returns = f" -> {ast.unparse(node.returns)}" if node.returns else ""
    return call(title, arguments(node.args), returns)


def call(title: str, parts: list[str], returns: str) -> str:
    """A call in one line, or a line for each argument."""
    line = f"{title}({', '.join(parts)}){returns}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{title}(", *(f"    {part}," for part in parts), f"){returns}"])


def names_in(node: Definition) -> set[str]:
    """The names that the parts of a signature have."""
    parts = fields(node) if isinstance(node, ast.ClassDef) else arguments(node.args)
    names = {re.split(r"[:= ]", part.lstrip("*"), maxsplit=1)[0] for part in parts}
    return (names - {""}) or {"nothing"}


def arguments(parameters: ast.arguments) -> list[str]:
    """The parameters of a function as they are written, without `self`."""
    positional = [*parameters.posonlyargs, *parameters.args]
    absent = [None] * (len(positional) - len(parameters.defaults))
    parts = [argument(*pair) for pair in zip(positional, [*absent, *parameters.defaults], strict=True)]
    parts = [part for part in parts if part not in ("self", "cls")]
    if parameters.vararg:
        parts.append(f"*{argument(parameters.vararg, None)}")
    elif parameters.kwonlyargs:
        parts.append("*")
    parts += [argument(*pair) for pair in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=True)]
    return parts + ([f"**{argument(parameters.kwarg, None)}"] if parameters.kwarg else [])


def argument(parameter: ast.arg, default: ast.expr | None) -> str:
    """One parameter with its type and default."""
    typed = f"{parameter.arg}: {ast.unparse(parameter.annotation)}" if parameter.annotation else parameter.arg
    return typed if default is None else f"{typed} = {ast.unparse(default)}"


def fields(node: ast.ClassDef) -> list[str]:
    """What makes an object of a class: the parameters of `__init__`, or the fields of a dataclass."""
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__":
            return arguments(each.args)
    if not any("dataclass" in ast.unparse(each) for each in node.decorator_list):
        return []
    annotated = [
        each for each in node.body if isinstance(each, ast.AnnAssign) and "init=False" not in ast.unparse(each)
    ]
    return [field(each) for each in annotated if "ClassVar" not in ast.unparse(each.annotation)]


def field(node: ast.AnnAssign) -> str:
    """A field of a dataclass with its default; "…" where that is made for each object."""
    typed = f"{ast.unparse(node.target)}: {ast.unparse(node.annotation)}"
    if node.value is None:
        return typed
    return f"{typed} = {'…' if isinstance(node.value, ast.Call) else ast.unparse(node.value)}"


def as_markdown(docstring: str, names: set[str]) -> str:
    """A docstring as Markdown: prose, a list of the arguments, and examples as code."""
    blocks = [block for block in docstring.split("\n\n") if block.strip()]
    return "\n\n".join(as_block(block, names) for block in blocks) + "\n"


def as_block(block: str, names: set[str]) -> str:
    """One paragraph of a docstring; what it says of an argument begins with the argument's name and a colon."""
    if block.startswith(">>>"):
        return f"```pycon\n{block}\n```"
    any_name = f"(?:{'|'.join(sorted(names, key=len, reverse=True))})"
    before, *pairs = re.split(rf"(?:^|(?<=[.;]\s))({any_name}(?:, {any_name})*):(?=\s)", block, flags=re.MULTILINE)
    lines = [escaped(before)] if before.strip() else []
    for described, about in zip(pairs[::2], pairs[1::2], strict=True):
        lines.append(f"- {', '.join(f'`{name}`' for name in described.split(', '))}: {escaped(about)}")
    return "\n".join(lines) if len(lines) < 2 or not before.strip() else "\n\n".join([lines[0], "\n".join(lines[1:])])


def escaped(text: str) -> str:
    """Text in one line, in which Markdown finds nothing but code."""
    parts = re.split(r"(`[^`]*`)", " ".join(text.split()))
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_\[\]<>|#])", r"\\\1", part) for part in parts)
