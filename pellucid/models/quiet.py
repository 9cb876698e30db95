"""Loading without the noise of the libraries below, without their waiting, and with errors in one sentence."""

import logging
import os
import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Lock
from urllib.parse import urlparse
from urllib.request import getproxies

from huggingface_hub import constants
from transformers.utils import logging as hugging_face_logging

from pellucid.core.wording import reason

_SWITCHING = Lock()
_inside: list[bool] = []  # one entry for each that is inside; the switches are the process's
_before = ExitStack()  # what brings back the switches as they were


@contextmanager
def quiet() -> Iterator[None]:
    """Hugging Face's progress bars and warnings are off inside, and as they were when the last thread has left."""
    with _SWITCHING:
        if not _inside:
            _before.enter_context(_switched_off())
        _inside.append(True)
    try:
        yield
    finally:
        with _SWITCHING:
            _inside.pop()
            if not _inside:
                _before.close()


@contextmanager
def _switched_off() -> Iterator[None]:
    bars, level = hugging_face_logging.is_progress_bar_enabled(), hugging_face_logging.get_verbosity()
    hub = logging.getLogger("huggingface_hub")
    hub_level = hub.level
    hugging_face_logging.disable_progress_bar()
    hugging_face_logging.set_verbosity(logging.CRITICAL)
    hub.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        hub.setLevel(hub_level)
        hugging_face_logging.set_verbosity(level)
        if bars:
            hugging_face_logging.enable_progress_bar()


def local_only(source: str | Path) -> bool:
    """Whether to look on this machine alone: the source is a folder, or the hub cannot be reached.

    Without a network the hub's client would try again for half a minute before it says so.
    """
    return Path(source).is_dir() or bool(os.environ.get("HF_HUB_OFFLINE")) or not _hub_answers()


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
