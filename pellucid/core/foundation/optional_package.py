"""Packages that only some features need: imported when needed, with one clear sentence where one is missing."""

import importlib
from types import ModuleType

from pellucid.core.foundation.errors import MissingPackage


def optional_package(name: str) -> ModuleType:
    """The package of that name; raises `MissingPackage` with the command that installs it."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        if error.name is not None and error.name.split(".")[0] != name:
            raise  # it is installed, but a package that it needs is missing
        raise MissingPackage(
            f"This needs the package {name}, which is not installed: pip install {name}"
        ) from None
