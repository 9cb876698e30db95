"""What a file registers, read from its text, so that names and facts are known before anything heavy is imported.

Only what stands there literally is read: a decorated function or class, its facts, docstring and default settings. A file
that registers in any other way is imported instead; the answers are the same, only later.
"""

import ast
import importlib
import pkgutil
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from types import MappingProxyType
from typing import Any

from pellucid.core.foundation.entry import Entry, first_sentence, second_paragraph

Definition = ast.FunctionDef | ast.ClassDef


class NotLiteral(Exception):
    """A value, or a way to register, that cannot be read without importing the file."""


def sources(package: str) -> Iterator[tuple[str, str | None]]:
    """Every file of a package, folder by folder: (full name, text); None where only its compiled form is there."""
    spec = find_spec(package)
    yield from _sources_below(spec.submodule_search_locations if spec else None, f"{package}.")


def _sources_below(folders: Iterable[str] | None, prefix: str) -> Iterator[tuple[str, str | None]]:
    for info in pkgutil.iter_modules(folders, prefix):
        spec = info.module_finder.find_spec(info.name, None)
        loader = spec.loader if spec else None
        yield info.name, loader.get_source(info.name) if loader and hasattr(loader, "get_source") else None
        if spec and info.ispkg:
            yield from _sources_below(spec.submodule_search_locations, f"{info.name}.")


def written_entries(
    text: str | None, module: str, catalogue: object, optional: Mapping[str, object]
) -> list[Entry]:
    """The entries that a file's text registers in a catalogue; raises `NotLiteral` where the file must be imported.

    optional: facts that a registration may declare, with their defaults.
    """
    if text is None:
        raise NotLiteral
    if ".add(" not in text:
        return []
    tree = ast.parse(text)
    imported = _imported_names(tree)
    calls = [node for node in ast.walk(tree) if _adds_to(node, imported, catalogue)]
    definitions = [node for node in tree.body if isinstance(node, Definition)]
    decorated = [(node, call) for node in definitions for call in node.decorator_list if call in calls]
    if len(decorated) < len(calls) or any(len(node.decorator_list) > 1 for node, _ in decorated):
        raise NotLiteral
    paper = second_paragraph(ast.get_docstring(tree))
    return [_entry(node, call, module, paper, optional) for node, call in decorated]  # type: ignore[arg-type]


def _imported_names(tree: ast.Module) -> dict[str, str]:
    """name in the file -> the full name of what was imported."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            names |= {alias.asname or alias.name: f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            names |= {alias.asname or alias.name: alias.name for alias in node.names}
    return names


def _adds_to(node: ast.AST, imported: Mapping[str, str], catalogue: object) -> bool:
    """Whether this is a call of the catalogue's `add`, under whatever name the file imported the catalogue."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "add"):
        return False
    name, dot, rest = ast.unparse(node.func.value).partition(".")
    module, _, attribute = f"{imported.get(name, '')}{dot}{rest}".rpartition(".")
    return getattr(sys.modules.get(module), attribute, None) is catalogue


def _entry(
    node: Definition, call: ast.Call, module: str, paper: str, optional: Mapping[str, object]
) -> Entry:
    names = [_value(argument) for argument in call.args]
    facts = {str(keyword.arg): _value(keyword.value) for keyword in call.keywords}
    return Entry(
        name=str(facts.pop("name", None) or (names[0] if names and names[0] else node.name)),
        later=frozenset(facts.pop("later", ())),
        module=module,
        facts=MappingProxyType({**optional, **facts}),
        summary=first_sentence(ast.get_docstring(node)),
        paper=paper,
        defaults=_defaults(node),
        load=partial(_imported, module, node.name),
    )


def _defaults(node: Definition) -> dict[str, object]:
    """The keyword-only parameters with their defaults; a class has those of its own constructor."""
    if isinstance(node, ast.ClassDef):
        makers = [one for one in node.body if isinstance(one, ast.FunctionDef) and one.name == "__init__"]
        if not makers:
            raise NotLiteral
        node = makers[0]
    pairs = zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
    return {parameter.arg: _value(default) for parameter, default in pairs}


def _value(node: ast.expr | None) -> Any:
    """The value of a literal, whatever its type; also of `frozenset(...)` of one."""
    if isinstance(node, ast.Call) and ast.unparse(node.func) == "frozenset":
        return frozenset(*map(_value, node.args))
    try:
        return ast.literal_eval(node)  # type: ignore[arg-type]  # None, a missing default, is no literal either
    except (ValueError, TypeError):
        raise NotLiteral from None


def _imported(module: str, attribute: str) -> Callable:
    return getattr(importlib.import_module(module), attribute)
