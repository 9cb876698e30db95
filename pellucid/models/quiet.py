"""Loading without the noise of the libraries below."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from transformers.utils import logging as hugging_face_logging


@contextmanager
def quiet() -> Iterator[None]:
    """Hugging Face's progress bars and warnings are off inside, and as they were afterwards."""
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
