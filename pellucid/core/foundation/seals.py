"""Seals: a digest inside a file that work is resumed from, with what the file belongs to, so that no other file is used.

Files of earlier versions have no seal; the reader decides whether to use them.
"""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import disk_errors
from pellucid.core.foundation.json_text import read_json

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


def sealed(content: Mapping[str, object], of: Mapping[str, object]) -> dict[str, object]:
    """The content with its seal. of: what it belongs to, as plain values; None for a value that is not known."""
    return {**content, SEAL: {"of": dict(of), "digest": json_digest([dict(of), content])}}


def seal_of(path: Path) -> dict[str, object]:
    """What a sealed JSON file says that it belongs to, unchecked; empty where it says nothing."""
    content = read_json(path)
    return _mapping(_mapping(_mapping(content).get(SEAL)).get("of"))


def is_sealed(content: Mapping[str, object]) -> bool:
    """Whether there is a seal, also one that does not fit."""
    return SEAL in content


def unsealed(content: Mapping[str, Content], of: Mapping[str, object], path: Path) -> dict[str, Content]:
    """The content without its seal; raises `BadFile` where it belongs to something else, or was changed."""
    bare = {name: value for name, value in content.items() if name != SEAL}
    if not is_sealed(content):
        return bare
    seal = _mapping(content[SEAL])
    names = _mapping(seal.get("of"))
    other = _differing(names, of)
    if other:
        was, wanted = ({name: one.get(name) for name in other} for one in (names, of))
        raise BadFile(f"{path} is of {was}, not of {wanted}; remove it to have it made again.")
    if seal.get("digest") != json_digest([names, bare]):
        raise BadFile(f"{path} was changed after it was written; remove it to have it made again.")
    return bare


def _mapping(value: object) -> dict[str, object]:
    return value if isinstance(value, dict) else {}


def _differing(names: Mapping[str, object], of: Mapping[str, object]) -> list[str]:
    """The names whose values differ, or that only one side has; None stands for an unknown value and differs from none."""
    missing = names.keys() ^ of.keys()
    known = {name for name in names.keys() & of.keys() if names[name] is not None and of[name] is not None}
    return sorted(missing | {name for name in known if names[name] != of[name]})
