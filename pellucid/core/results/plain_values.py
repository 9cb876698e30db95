"""Records as JSON holds them, which knows no nan."""

from typing import Any


def plain(held: Any) -> Any:
    """The same dictionaries with None where there is no number."""
    if isinstance(held, dict):
        return {name: plain(value) for name, value in held.items()}
    return None if held != held else held
