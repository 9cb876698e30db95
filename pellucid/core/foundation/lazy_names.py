"""Names that a package offers and imports at their first use, so that `import pellucid` takes no seconds.

A package writes its imports once, under `if TYPE_CHECKING:`, where type checkers and editors read them; so do we.
"""

import ast
import importlib
import sys
from collections.abc import Callable, Mapping
from functools import cache


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
