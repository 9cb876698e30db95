"""Models of the hub by their names: fetched into a folder first, so that everything after that reads local files only."""

import os
import socket
from pathlib import Path
from urllib.parse import urlparse
from urllib.request import getproxies

from huggingface_hub import constants, snapshot_download

from pellucid.base.errors import BadFile
from pellucid.base.wording import reason
from pellucid.models.folders.configuration import CONFIG, read_object
from pellucid.models.folders.weight_files import WEIGHTS, weight_files

DESCRIBING = ["*.json", "*.txt", "*.model", "*.jinja"]  # configuration and tokenizer, without weights
YES = ("1", "ON", "YES", "TRUE")  # as the hub's client reads it


def local_folder(source: str | Path) -> Path:
    """The folder of a source: itself, or where the hub's files of that name were fetched to."""
    if Path(source).is_dir():
        return Path(source)
    here = local_only(source)
    folder = _fetched(source, DESCRIBING, here)
    if not here and (folder / CONFIG).is_file():
        _fetched(source, [WEIGHTS], here)
        if names := _other_weights(folder):
            _fetched(source, names, here)
    return folder


def _fetched(source: str | Path, patterns: list[str], here: bool) -> Path:
    return Path(
        snapshot_download(str(source), allow_patterns=patterns, ignore_patterns="*/*", local_files_only=here)
    )


def _other_weights(folder: Path) -> list[str]:
    """The weights that are still to be fetched, according to the folder's own files."""
    try:
        return [path.name for path in weight_files(folder, read_object(folder / CONFIG), fetched=False)]
    except BadFile:
        return []  # loading reports what is wrong


def local_only(source: str | Path) -> bool:
    """Whether to look only on this machine: the source is a folder, or the hub cannot be reached.

    Without a network, the hub's client would retry for half a minute before it fails.
    """
    return Path(source).is_dir() or is_offline() or not _hub_answers()


def is_offline() -> bool:
    """Whether the environment forbids requests to the hub; its variables are read as the hub's client reads them."""
    word = os.environ.get("HF_HUB_OFFLINE") or os.environ.get("TRANSFORMERS_OFFLINE") or ""
    return word.upper() in YES or bool(constants.HF_HUB_OFFLINE)


def _hub_answers() -> bool:
    if getproxies():
        return True  # a proxy resolves the name; only the client can tell
    address = urlparse(constants.ENDPOINT)
    try:
        socket.create_connection((address.hostname or "", address.port or 443), timeout=3).close()
    except OSError:
        return False
    return True


def why_not(source: str | Path, error: Exception) -> str:
    """Why nothing could be loaded from a source, in one sentence."""
    if not Path(source).is_dir() and local_only(source):
        return f"There is no folder {source} here, and the hub cannot be reached to look for a model of that name"
    if "ignore_mismatched_sizes" in str(error):
        return "its weights have other sizes than its config.json says"
    return reason(error)
