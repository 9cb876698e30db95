"""Refuses a folder of data whose card names files elsewhere: the package `datasets` would fetch them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from huggingface_hub import DatasetCard

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import disk_errors
from pellucid.core.foundation.wording import quoted

CARDS = ("README.md", ".huggingface.yaml")  # where the package looks for the names of files
LARGEST = 4 << 20  # bytes of one
NAMES = ("data_files", "data_dir", "path")


def check_local(folder: Path) -> None:
    """Raise `BadFile` where a card of the folder names files on the hub, at another address or above the folder."""
    for name in CARDS:
        if (folder / name).is_file():
            for file in _elsewhere(_configurations(folder / name)):
                raise BadFile(
                    f"{folder / name} names {quoted(file)}, which lies elsewhere; only files of the folder are read. "
                    "Take that entry out, or give the data set's hub name."
                )


def _configurations(path: Path) -> Any:
    with disk_errors("read", path), path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadFile(f"{path} has more than {LARGEST >> 20} MB, which no card needs; give another folder.")
    try:
        text = content.decode("utf-8")
        card = DatasetCard(text).data.to_dict() if path.suffix == ".md" else yaml.safe_load(text)
    except (ValueError, TypeError, RecursionError, yaml.YAMLError):
        raise BadFile(f"{path} does not begin with readable YAML; repair it, or take it away.") from None
    return card.get("configs") if isinstance(card, dict) else None


def _elsewhere(configurations: Any) -> Iterator[str]:
    """Every string within the configurations that names a file elsewhere."""
    waiting, seen = [(configurations, False)], set()
    while waiting:
        value, names = waiting.pop()
        if isinstance(value, dict | list):
            if (id(value), names) in seen:  # YAML can hold a part many times
                continue
            seen.add((id(value), names))
            inside = value.items() if isinstance(value, dict) else enumerate(value)
            waiting += [(inner, names or name in NAMES) for name, inner in inside]
        elif isinstance(value, str) and ("://" in value or (names and _leads_out(value))):
            yield value


def _leads_out(file: str) -> bool:
    return "::" in file or file.startswith(("/", "~", "\\")) or ".." in Path(file).parts
