"""A digest of the files that an encoder is loaded from: it identifies the encoder, whatever its folder is called."""

from functools import cache
from pathlib import Path

from transformers.utils import cached_file

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.json_text import file_digest, json_digest
from pellucid.core.foundation.kinds import encoders
from pellucid.models.classifiers.pretrained import minilm_source
from pellucid.models.folders.library_output import quiet

# The files of weights, configuration and tokenizer; other files in the folder do not count.
READ = (
    "config.json",
    "*.safetensors",
    "*.safetensors.index.json",
    "tokenizer*",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab*",
    "merges.txt",
    "*.model",
)


def source_digest(encoder: str | Path) -> str:
    """32 hexadecimal digits for the files of an encoder; "" where none of them are on this machine.

    encoder: as a `Plan` names it. Word vectors of a registered encoder are MiniLM's, as is its tokenizer.
    """
    folder = _folder(str(encoder))
    if folder is None:
        return ""
    files = sorted({path for pattern in READ for path in folder.glob(pattern) if path.is_file()})
    return json_digest([[path.name, _digest(path, *_state(path))] for path in files]) if files else ""


def _folder(encoder: str) -> Path | None:
    """The folder of an encoder's files; for a hub name, the one in the library's cache."""
    try:
        own = encoder == "minilm" or encoder in encoders.names()
        source = minilm_source() if own else encoder
        if Path(source).expanduser().is_dir():
            return Path(source).expanduser()
        with quiet():
            config = cached_file(source, "config.json", local_files_only=True)
    except (
        BadFile,
        OSError,
        ValueError,
        RuntimeError,
    ):  # it is not on this machine, or no file can have this name
        return None
    return None if config is None else Path(config).parent


def _state(path: Path) -> tuple[int, ...]:
    """What changes with a file's content; many trainings read the same files, which are then digested once."""
    state = path.stat()
    return state.st_ino, state.st_size, state.st_mtime_ns, state.st_ctime_ns


@cache
def _digest(path: Path, *state: int) -> str:
    return file_digest(path)
