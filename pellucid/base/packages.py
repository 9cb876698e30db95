"""Packages: those that are imported only where they are needed, and versions."""

import importlib
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from pellucid.base.errors import MissingPackage


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


# Which version this is.


def _installed() -> str:
    try:
        return version("pellucid")
    except PackageNotFoundError:  # run from a folder without being installed
        return "not installed"


__version__ = _installed()
