"""One registration of a catalogue, a call of it with settings, and what a file registers, read from its text."""

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from types import MappingProxyType, ModuleType
from typing import Any, TypeAlias

from pellucid.base.checks import Choice as Choice
from pellucid.base.checks import known, of_kind

SOURCE = "Source:"  # begins the paragraph of a docstring that names the paper
Facts: TypeAlias = MappingProxyType[str, Any]  # what a registration declares, in the types of its kind


@dataclass(frozen=True)
class Entry:
    """What is registered under a name, and what its file says of it.

    module: the file's full name. facts: what the registration declares. summary: the first sentence of the docstring.
    paper: the reference, if there is one: the paragraph of the docstring that begins with "Source:", or the second
    paragraph of the file's. defaults: the settings with their default values: the keyword-only parameters. later:
    settings that came after results were saved. load: returns the function or class, and imports its file for that.
    """

    name: str
    module: str
    facts: Facts
    summary: str
    paper: str
    defaults: Mapping[str, object]
    load: Callable[[], Callable[..., Any]] = field(compare=False, repr=False)
    later: frozenset[str] = frozenset()

    @property
    def make(self) -> Callable[..., Any]:
        """The function or class that was registered; its file is imported at the first use."""
        return self.load()

    def settings(self, changes: dict[str, object]) -> dict[str, object]:
        """All settings of a call: the defaults with these changes; unknown names and wrong types raise.

        A later setting is left out at its default, so that records made before it came match.
        """
        for name in changes:
            known(f"setting of {self.name}", name, self.defaults)
        parameters = inspect.signature(self.make).parameters if changes else {}
        checked = {name: of_kind(name, value, parameters[name].annotation) for name, value in changes.items()}
        full, defaults = {**self.defaults, **checked}, self.defaults
        return {name: value for name, value in full.items() if name not in self.later or value != defaults[name]}


def imported_entry(
    name: str, make: Callable[..., Any], facts: Mapping[str, object], later: Iterable[str] = ()
) -> Entry:
    """The entry of a function or class that is imported already."""
    parameters = inspect.signature(make).parameters.values()
    return Entry(
        name=name,
        module=make.__module__,
        facts=MappingProxyType(dict(facts)),
        summary=first_sentence(inspect.getdoc(make)),
        paper=paper_of(inspect.getdoc(make), getattr(sys.modules.get(make.__module__), "__doc__", None)),
        defaults={p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY},
        load=lambda: make,
        later=frozenset(later),
    )


def first_sentence(docstring: str | None) -> str:
    """The first paragraph of a docstring, as one line."""
    return next(iter(_paragraphs(docstring)), "")


def paper_of(docstring: str | None, file_docstring: str | None) -> str:
    """The source that a docstring names, else that of its file, as one line; "" where there is none."""
    for paragraph in _paragraphs(docstring):
        if paragraph.startswith(SOURCE):
            return paragraph.removeprefix(SOURCE).lstrip()
    of_file = _paragraphs(file_docstring)
    return of_file[1] if len(of_file) > 1 else ""


def _paragraphs(docstring: str | None) -> list[str]:
    """The paragraphs of a docstring, each as one line."""
    return [" ".join(paragraph.split()) for paragraph in (docstring or "").strip().split("\n\n")]


@dataclass(frozen=True)
class Call:
    """An entry with all its settings; title: its name, with the settings that were changed."""

    entry: Entry
    settings: Mapping[str, object]
    title: str

    def __call__(self, *inputs: object) -> Any:  # inputs and result are those of the entry's kind
        """Call the registered function on these inputs with these settings."""
        return self.entry.make(*inputs, **self.settings)


# What a file registers, read from its text, so that names and facts are known before anything heavy is imported.
#
# Only what stands there literally is read: a decorated function or class, its facts, docstring and default settings.
# A file that registers in any other way is imported instead; the answers are the same, only later.

Definition = ast.FunctionDef | ast.ClassDef
OWNER = re.compile(r"(\w+)(?:\s*\.\s*\w+)*\s*$")  # before ".add(": the first of the names that it is called of
LONGEST = 200  # characters of such names
IMPORTING = re.compile(
    r"^[ \t]*(?:from[ \t]+([\w.]+)[ \t]+)?import[ \t]+(\([^)]*\)|[^\n\\]*(?:\\\n[^\n\\]*)*)", re.MULTILINE
)


class NotLiteral(Exception):
    """A value, or a way to register, that cannot be read without importing the file."""


def sources(package: str) -> Iterator[tuple[str, str | None]]:
    """Every file of a package, or the file that it is: (full name, text); None where only its compiled form is
    there.
    """
    spec = find_spec(package)
    if spec is None:
        raise ModuleNotFoundError(f"There is no package {package}.", name=package)
    if spec.submodule_search_locations is None:
        yield package, _source(spec)
    else:
        yield from _sources_below(spec.submodule_search_locations, f"{package}.")


def _sources_below(folders: Iterable[str] | None, prefix: str) -> Iterator[tuple[str, str | None]]:
    for info in pkgutil.iter_modules(folders, prefix):
        spec = info.module_finder.find_spec(info.name, None)
        yield info.name, _source(spec) if spec else None
        if spec and info.ispkg:
            yield from _sources_below(spec.submodule_search_locations, f"{info.name}.")


def _source(spec: ModuleSpec) -> str | None:
    return spec.loader.get_source(spec.name) if spec.loader and hasattr(spec.loader, "get_source") else None


def written_entries(text: str | None, module: str, catalogue: object, optional: Mapping[str, object]) -> list[Entry]:
    """The entries that a file's text registers in a catalogue; raises `NotLiteral` where the file must be imported.

    optional: facts that a registration may declare, with their defaults.
    """
    if text is None:
        raise NotLiteral
    n_calls = _calls_in_text(text, catalogue)
    if not n_calls:
        return []
    tree = ast.parse(text)
    decorated = _decorated(tree, _imported_names(tree.body), catalogue)
    if len(decorated) != n_calls:  # the text says something else, perhaps in a comment: look at all that the file does
        nodes = list(ast.walk(tree))
        imported = _imported_names(nodes)
        decorated = _decorated(tree, imported, catalogue)
        if len(decorated) < sum(_adds_to(node, imported, catalogue) for node in nodes):
            raise NotLiteral
    if any(len(node.decorator_list) > 1 for node, _ in decorated):
        raise NotLiteral
    about = ast.get_docstring(tree)
    return [_entry(node, call, module, about, optional) for node, call in decorated]


def _calls_in_text(text: str, catalogue: object) -> int:
    """How often the file calls `add` of a name that it imports, and that may be the catalogue.

    Seen without parsing the file, which takes fifty times as long; so what cannot be seen this way counts too.
    """
    ends = [match.start() for match in re.finditer(r"\.add\(", text)]
    owners = [OWNER.search(text, max(0, end - LONGEST), end) for end in ends]
    adding = [owner[1] for owner in owners if owner]
    names = {name for name in set(adding) if _may_be(catalogue, name, text)}
    return sum(name in names for name in adding)


def _may_be(catalogue: object, name: str, text: str) -> bool:
    """Whether a name that the file imports is the catalogue or a module, or cannot be looked up."""
    for module, imported in IMPORTING.findall(text):
        if name not in imported:
            continue
        for written in re.sub(r"#.*", "", imported).strip("() \t").split(","):
            words = written.replace("\\", " ").split()  # "name", or "name as own"
            if words and words[-1].partition(".")[0] == name:
                value = getattr(sys.modules.get(module), words[0], catalogue)
                if value is catalogue or isinstance(value, ModuleType):
                    return True
    return False


def _decorated(tree: ast.Module, imported: Mapping[str, str], catalogue: object) -> list[tuple[Definition, ast.Call]]:
    """The definitions that the file's own lines decorate with the catalogue's `add`, each with that call."""
    return [
        (node, call)
        for node in tree.body
        if isinstance(node, Definition)
        for call in node.decorator_list
        if isinstance(call, ast.Call) and _adds_to(call, imported, catalogue)
    ]


def _imported_names(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """name in the file -> the full name of what these nodes import."""
    names: dict[str, str] = {}
    for node in nodes:
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


def _entry(node: Definition, call: ast.Call, module: str, about: str | None, optional: Mapping[str, object]) -> Entry:
    names = [_value(argument) for argument in call.args]
    facts = {str(keyword.arg): _value(keyword.value) for keyword in call.keywords}
    return Entry(
        name=str(facts.pop("name", None) or (names[0] if names and names[0] else node.name)),
        later=frozenset(facts.pop("later", ())),
        module=module,
        facts=MappingProxyType({**optional, **facts}),
        summary=first_sentence(ast.get_docstring(node)),
        paper=paper_of(ast.get_docstring(node), about),
        defaults=_defaults(node),
        load=partial(_imported, module, node.name),
    )


def _defaults(node: Definition) -> dict[str, object]:
    """The keyword-only parameters with their defaults; a class has those of its own constructor."""
    if isinstance(node, ast.ClassDef):
        makers = [
            statement
            for statement in node.body
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__"
        ]
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


def _imported(module: str, attribute: str) -> Callable[..., Any]:
    return getattr(importlib.import_module(module), attribute)
