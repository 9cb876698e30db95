"""JSON of unknown origin, read only up to a limited depth, so that it can be drawn and written again; and our own
records.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from pellucid.base.checks import reason
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, read_text

# What JSON can hold; a value of unknown form is narrowed with isinstance before it is read.
Json: TypeAlias = bool | int | float | str | list["Json"] | dict[str, "Json"] | None

plain_json = json.JSONEncoder(ensure_ascii=False).encode  # as `json.dumps`, which makes an encoder for each value

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


# Seals: a digest inside a file that work is resumed from, with what the file belongs to, so that no other file is
# used.
#
# Files of earlier versions have no seal; the reader decides whether to use them.

SEAL = "seal"
Content = TypeVar("Content")


def json_digest(content: object) -> str:
    """32 hexadecimal digits for any value that JSON can represent."""
    written = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return blake2b(written.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def file_digest(path: Path) -> str:
    """32 hexadecimal digits for the bytes of a file."""
    digest = blake2b(digest_size=16)
    with disk_errors("read", path), path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def sealed(content: Mapping[str, object], owner: Mapping[str, object]) -> dict[str, object]:
    """The content with its seal. owner: what it belongs to, as plain values; None for a value that is not known."""
    return {**content, SEAL: {"of": dict(owner), "digest": json_digest([dict(owner), content])}}


def seal_of(path: Path) -> dict[str, object]:
    """What a sealed JSON file says that it belongs to, unchecked; empty where it says nothing."""
    content = read_json(path)
    return _mapping(_mapping(_mapping(content).get(SEAL)).get("of"))


def is_sealed(content: Mapping[str, object]) -> bool:
    """Whether there is a seal, also one that does not fit."""
    return SEAL in content


def unsealed(content: Mapping[str, Content], owner: Mapping[str, object], path: Path) -> dict[str, Content]:
    """The content without its seal; raises `BadFile` where it belongs to something else, or was changed."""
    bare = {name: value for name, value in content.items() if name != SEAL}
    if not is_sealed(content):
        return bare
    seal = _mapping(content[SEAL])
    names = _mapping(seal.get("of"))
    differing = _differing(names, owner)
    if differing:
        was, wanted = ({name: side.get(name) for name in differing} for side in (names, owner))
        raise BadFile(f"{path} is of {was}, not of {wanted}; remove it to have it made again.")
    if seal.get("digest") != json_digest([names, bare]):
        raise BadFile(f"{path} was changed after it was written; remove it to have it made again.")
    return bare


def read_sealed(path: Path, owner: Mapping[str, object], indent: int | None = None) -> dict[str, Any]:
    """The content of a file that work goes on from; raises `BadFile` unless it is sealed, the owner's, and to the last
    bit as `json.dumps` wrote it.
    """
    with disk_errors("read", path):
        written = path.read_bytes()
    try:
        content = parsed(written.decode("utf-8"))
        assert is_sealed(content) and json.dumps(content, ensure_ascii=False, indent=indent).encode() == written
    except (ValueError, TypeError, AssertionError):
        raise BadFile(f"{path} was changed after it was written; remove it to have it made again.") from None
    return unsealed(content, owner, path)


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _differing(names: Mapping[str, object], owner: Mapping[str, object]) -> list[str]:
    """The names whose values differ, or that only one side has; None stands for an unknown value and differs from
    none.
    """
    missing = names.keys() ^ owner.keys()
    known = {name for name in names.keys() & owner.keys() if names[name] is not None and owner[name] is not None}
    return sorted(missing | {name for name in known if names[name] != owner[name]})
