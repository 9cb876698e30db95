"""JSON of unknown origin, read only up to a limited depth, so that it can be drawn and written again; and our own records."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import read_text
from pellucid.core.foundation.wording import reason

# What JSON can hold; a value of unknown form is narrowed with isinstance before it is read.
Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

DEEPEST = 100  # lists and objects inside each other; the deepest file of ours has eight


def parsed(text: str) -> Any:  # Json, which callers read as their own record; they catch what does not fit
    """The value of a JSON text; raises `ValueError` where it is no JSON, or is nested too deeply."""
    too_deep = ValueError(f"its lists and objects are nested more than {DEEPEST} deep")
    try:
        value = json.loads(text)
    except RecursionError:
        raise too_deep from None
    if _depth(value) > DEEPEST:
        raise too_deep
    return value


def read_json(path: str | Path) -> Any:  # see `parsed`
    """The value of a JSON file; raises `BadFile` where it is missing, no JSON, or nested too deeply."""
    text = read_text(path)
    try:
        return parsed(text)
    except ValueError as error:
        raise BadFile(f"{path} is not JSON that can be read: {reason(error)}.") from None


def nan_as_none(record: Mapping[str, object]) -> dict[str, object]:
    """The same record, dictionaries and lists inside it included, with None for nan, which JSON does not have."""
    return {name: _nan_as_none(value) for name, value in record.items()}


def _nan_as_none(value: object) -> object:
    if isinstance(value, dict):
        return nan_as_none(value)
    if isinstance(value, list | tuple):
        return [_nan_as_none(member) for member in value]
    return None if value != value else value


def _depth(value: Json) -> int:
    """How many lists and objects lie inside each other: level by level, without recursion."""
    depth, level = 0, [value]
    while level := [outer for outer in level if isinstance(outer, dict | list)]:
        depth += 1
        level = [inner for outer in level for inner in (outer.values() if isinstance(outer, dict) else outer)]
    return depth
