"""The types of `pellucid.explain`: one overload a method, so that editors complete its settings and check them.

python -m tests.typed_explain
"""

import ast
import inspect
from pathlib import Path
from typing import get_type_hints

import pellucid
from pellucid.base.entry import Entry
from pellucid.base.kinds import attributions

ROOM = Path(pellucid.__file__).parent / "explaining"
STUB = ROOM / "typed_explain.pyi"
HEAD = '''"""`pellucid.explain`, one overload a method. Made by `make fix` from the methods' files; do not edit."""'''


def stub() -> str:
    """The file's text, as ruff formats it."""
    tree = ast.parse((ROOM / "explain.py").read_text(encoding="utf-8"))
    door = next(node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "explain")
    overloads = [_overload(door, attributions.get(name)) for name in _ours()]
    any_other = _signature(
        door, "str", [], "    **settings: Any,\n", "A method of another package, or one not named here."
    )
    return f"{HEAD}\n\n{_imports(tree, door)}\n\n" + "\n".join([*overloads, any_other])


def _ours() -> list[str]:
    """The names of our own methods; those of other packages differ from place to place."""
    names = attributions.names()
    return [name for name in names if attributions.get(name).module.startswith("pellucid.")]


def _imports(tree: ast.Module, door: ast.FunctionDef) -> str:
    """What the annotations of `explain` need, from the imports of its file."""
    used = {node.id for node in ast.walk(door.args) if isinstance(node, ast.Name)}
    used |= {node.id for node in ast.walk(door.returns or door) if isinstance(node, ast.Name)}
    lines = ["from typing import Any, Literal, overload"]
    for node in tree.body:
        if isinstance(node, ast.ImportFrom) and node.module != "typing":
            names = [alias.name for alias in node.names if (alias.asname or alias.name) in used]
            lines += [f"from {node.module} import {', '.join(names)}"] if names else []
    abc = "from collections.abc import "  # settings may be mappings
    lines = [line.replace(abc, f"{abc}Mapping, ") for line in lines]
    ours = [line for line in lines if line.startswith("from pellucid.")]
    return "\n".join([*sorted(set(lines) - set(ours)), "", *ours])


def _overload(door: ast.FunctionDef, entry: Entry) -> str:
    hints = get_type_hints(entry.make)
    types = {
        name: inspect.formatannotation(hints[name]).replace("typing.", "").replace("collections.abc.", "")
        for name in entry.defaults
    }
    settings = [
        f"    {name}: {_as_union(types[name])} = {_literal(value)},\n" for name, value in entry.defaults.items()
    ]
    return _signature(door, f"Literal[{_literal(entry.name)}]", settings, "", entry.summary)


def _as_union(annotation: str) -> str:
    """`Union[A, B]` as `A | B`."""
    if not annotation.startswith("Union["):
        return annotation
    parts = ast.parse(annotation, mode="eval").body.slice.elts  # type: ignore[attr-defined]
    return " | ".join(_quoted(ast.unparse(part)) for part in parts)


def _literal(value: object) -> str:
    return _quoted(repr(value))


def _quoted(text: str) -> str:
    return text.replace("'", '"')


def _signature(door: ast.FunctionDef, method: str, settings: list[str], rest: str, summary: str) -> str:
    own = {"integrated_gradients": " = ..."}.get(method.partition('"')[2].partition('"')[0], "")
    first = [f"    {_parameter(argument)},\n" for argument in door.args.args]
    first = [f"    method: {method}{own},\n" if "method:" in line else line for line in first]
    pairs = zip(door.args.kwonlyargs, door.args.kw_defaults, strict=True)
    options = [f"    {_parameter(argument)}{_default(default)},\n" for argument, default in pairs]
    inside = "".join([*first, "    *,\n", *options, *settings, rest])
    returns = ast.unparse(door.returns) if door.returns else "Any"
    return _quoted(f"@overload\ndef explain(\n{inside}) -> {returns}:\n") + f'    """{summary}"""\n'


def _parameter(argument: ast.arg) -> str:
    return f"{argument.arg}: {ast.unparse(argument.annotation)}" if argument.annotation else argument.arg


def _default(default: ast.expr | None) -> str:
    return "" if default is None else f" = {ast.unparse(default)}"


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
