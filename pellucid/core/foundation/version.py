"""Which version this is."""

from importlib.metadata import PackageNotFoundError, version


def _installed() -> str:
    try:
        return version("pellucid")
    except PackageNotFoundError:  # run from a folder without being installed
        return "not installed"


__version__ = _installed()
