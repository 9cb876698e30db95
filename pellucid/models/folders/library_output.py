"""Loading without the noise of the libraries below."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import Lock

from transformers.utils import logging as hugging_face_logging

_SWITCHING = Lock()
_inside: list[bool] = []  # one entry for each that is inside; the switches are the process's
_before = ExitStack()  # restores the switches

NO_THREADS = "HF_DEACTIVATE_ASYNC_LOAD"


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
    """Progress bars and warnings are off, and so are the library's threads that read weights.

    Where memory is short such threads never start, and loading would wait for them for ever.
    """
    threads = os.environ.get(NO_THREADS)
    os.environ[NO_THREADS] = "1"
    bars, level = hugging_face_logging.is_progress_bar_enabled(), hugging_face_logging.get_verbosity()
    hub = logging.getLogger("huggingface_hub")
    hub_level = hub.level
    hugging_face_logging.disable_progress_bar()
    hugging_face_logging.set_verbosity(logging.CRITICAL)
    hub.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        if threads is None:
            os.environ.pop(NO_THREADS, None)
        else:
            os.environ[NO_THREADS] = threads
        hub.setLevel(hub_level)
        hugging_face_logging.set_verbosity(level)
        if bars:
            hugging_face_logging.enable_progress_bar()
