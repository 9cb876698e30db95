"""Which command drew each picture that a page shows, and from which files: drawn.json, which `make site` reads.

A command calls `record` when it has written its pictures. A picture that no command draws has the reason there, and the
build names it. `python -m docs.pictures.drawn FILE` says that a change of FILE, such as another line break, alters none
of the pictures that are drawn from it.
"""

import json
import sys
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RECORD = "docs/pictures/drawn.json"
ADVICE = "call `record` of docs/pictures/drawn.py in the command that draws it"


def record(command: str, files: Iterable[str], pictures: Iterable[str], root: Path = ROOT) -> None:
    """Note that a command has just drawn these pictures from these files; all paths are those in the repository."""
    entries = recorded(root)
    sources = {name: digest(root / name) for name in files}
    for name in pictures:
        entries[name] = {"command": command, "files": sources, "picture": digest(root / name)}
    write(entries, root)


def recorded(root: Path = ROOT) -> dict[str, dict[str, Any]]:
    """Path of a picture -> its command, the files that it was drawn from with their digests, and its own digest; or
    why no command draws it.
    """
    path = root / RECORD
    entries: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    return entries


def write(entries: dict[str, dict[str, Any]], root: Path = ROOT) -> None:
    """Write the record."""
    (root / RECORD).write_text(json.dumps(entries, indent=1, sort_keys=True) + "\n", encoding="utf-8")


def digest(path: Path) -> str:
    """The SHA-256 of a file; "" where there is none."""
    return sha256(path.read_bytes()).hexdigest() if path.is_file() else ""


def faults(pictures: Iterable[str], root: Path = ROOT) -> list[str]:
    """A sentence for each picture that is not what its command drew last, or that has no entry."""
    entries = recorded(root)
    sentences = [fault(name, entries.get(name, {}), root) for name in sorted({*pictures, *entries})]
    return [sentence for sentence in sentences if sentence]


def fault(name: str, entry: dict[str, Any], root: Path) -> str:
    """What is wrong with one picture, or ""."""
    if not (root / name).is_file():
        return f"{name} is named in {RECORD} and is not there; draw it again or take it out of that file."
    if "by_hand" in entry:
        return ""
    if "command" not in entry:
        return f"{name} has no command in {RECORD}; {ADVICE}."
    newer = [path for path, known in entry["files"].items() if digest(root / path) != known]
    if newer:
        return f"{name} is older than {newer[0]}, from which it is drawn; run `{entry['command']}` again."
    if digest(root / name) != entry["picture"]:
        return f"{name} is not what its command drew; run `{entry['command']}` again."
    return ""


def without_command(root: Path = ROOT) -> list[str]:
    """A line for each picture that no command draws, with the reason."""
    return [f"{name}: {entry['by_hand']}" for name, entry in recorded(root).items() if "by_hand" in entry]


def main(files: Sequence[str], root: Path = ROOT) -> None:
    """Take these files as they are now for what the pictures were drawn from."""
    entries = recorded(root)
    for name in files:
        affected = [entry for entry in entries.values() if name in entry.get("files", {})]
        if not affected:
            raise SystemExit(f"No picture is drawn from {name}; give a path that stands in {RECORD}.")
        for entry in affected:
            entry["files"][name] = digest(root / name)
    write(entries, root)


if __name__ == "__main__":
    main(sys.argv[1:])
