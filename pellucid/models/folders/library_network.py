"""A network that a library builds from a folder or a name on the hub, without a line of the folder's code."""

import logging
import math
import os
import re
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from pathlib import Path
from threading import Lock, RLock
from typing import Any, TypeAlias
from urllib.parse import urlparse
from urllib.request import getproxies

import torch
from huggingface_hub import constants, snapshot_download
from safetensors import safe_open
from safetensors.torch import load_file
from transformers import PreTrainedConfig, PreTrainedModel, dynamic_module_utils
from transformers.integrations import hub_kernels
from transformers.pytorch_utils import Conv1D
from transformers.utils import logging as hugging_face_logging

from pellucid.base.checks import quoted, reason
from pellucid.base.errors import BadFile
from pellucid.models.folders.configuration import ADAPTER, CONFIG, configuration, read_configuration, read_object
from pellucid.models.folders.weight_files import (
    WEIGHTS,
    check_numbers,
    check_sizes,
    weight_files,
    weight_sizes,
)

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
    return Path(snapshot_download(str(source), allow_patterns=patterns, ignore_patterns="*/*", local_files_only=here))


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


# Networks of Hugging Face from a folder: everything in it is checked first, and only safetensors are opened.
#
# The library gets a configuration and tensors, never the folder. So there is no file in which it could find code,
# pickles, other weights or other models.

# Such as `MODEL_MAPPING`, from a configuration's class to its network's. Any: the library declares a pair of classes,
# and gives one class, or a tuple of several.
Classes: TypeAlias = Mapping[type[PreTrainedConfig], Any]


def read_network(
    folder: Path, classes: Classes, dtype: torch.dtype, n_labels: int | None = None
) -> tuple[Any, list[str]]:  # Any: a network
    """A folder's network, and the names of weights that it lacks; raises `BadFile` for what is not safe to read.

    n_labels: of a head of another size than the folder's, which it then lacks; None: as the configuration says.
    """
    values = read_configuration(folder)
    names = values.get("id2label")
    headless = n_labels is not None and (not isinstance(names, dict) or len(names) != n_labels)
    if n_labels is not None and headless:
        values["id2label"] = {str(label): f"LABEL_{label}" for label in range(n_labels)}
        values["label2id"] = {f"LABEL_{label}": label for label in range(n_labels)}
    files = weight_files(folder, values)
    sizes = weight_sizes(files)
    check_numbers(values, sizes, folder / CONFIG)
    if values.get("id2label") == {}:
        raise BadFile(f"{folder / CONFIG} names no class; name every class in its id2label.")
    with guarded(), ExitStack() as opened:
        kind, config = network_class(configuration(values), classes)
        check_sizes(lambda: kind(deepcopy(config)), sizes, folder / CONFIG)
        slices = _slices(files, opened)
        answer: Any = kind.from_pretrained(  # Any: it is a pair, by its last setting
            None,
            config=config,
            state_dict={name: part for name, part in slices.items() if not (headless and HEAD.fullmatch(name))},
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=True,
            dtype=dtype,
            output_loading_info=True,
        )
    network, info = answer
    network.config.name_or_path = str(folder)
    return network, list(info["missing_keys"])


def network_class(config: PreTrainedConfig, classes: Classes) -> tuple[type[PreTrainedModel], PreTrainedConfig]:
    """The class for a configuration, and the configuration that it takes; raises `ValueError` where there is none."""
    if type(config) not in classes:
        raise ValueError(f"a model of the type {config.model_type} is none of this kind")
    several = classes[type(config)]
    several = several if isinstance(several, list | tuple) else (several,)
    named = [kind for kind in several if kind.__name__ in (getattr(config, "architectures", None) or ())]
    kind = (named or several)[0]
    text = config.sub_configs.get("text_config")
    if text is not None and kind.config_class is text:
        config = config.get_text_config()
    return kind, config


def new_network(config: PreTrainedConfig, classes: Classes) -> PreTrainedModel:
    """A network of a configuration, its weights still to be loaded."""
    kind, config = network_class(config, classes)
    return kind(deepcopy(config))


def _slices(files: list[Path], opened: ExitStack) -> dict[str, object]:
    """Every tensor's name and a slice of its file, which is read when it is needed."""
    tensors: dict[str, object] = {}
    for path in files:
        file = opened.enter_context(safe_open(path, framework="pt"))
        tensors |= {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
    return tensors


# Adapters as PEFT saves them, of the kind LoRA: products of two small matrices, which are added to the weights of the
# base that the folder names, and the head's own weights.

ADAPTER_WEIGHTS = "adapter_model.safetensors"
INSIDE = "base_model.model."  # what PEFT puts before a weight's name
# What the last map of a classifier is called.
HEAD = re.compile(r"(classifier|score|logits_proj|(classifier|classification_head)\.out_proj)\.(weight|bias)")
UNCHANGING = frozenset(  # settings that change nothing of how the saved matrices are added
    "auto_mapping base_model_name_or_path bias exclude_modules fan_in_fan_out inference_mode init_lora_weights "
    "layers_pattern layers_to_transform lora_alpha lora_dropout megatron_core modules_to_save peft_type peft_version "
    "qalora_group_size r rank_pattern runtime_config target_modules task_type use_rslora".split()
)


def is_adapted_classifier(folder: Path) -> bool:
    """Whether a folder holds a LoRA adapter of a sequence classifier, without settings that are not followed here."""
    if (folder / CONFIG).exists() or not all((folder / name).is_file() for name in (ADAPTER, ADAPTER_WEIGHTS)):
        return False
    facts = read_object(folder / ADAPTER)
    known = {name for name, value in facts.items() if value} <= UNCHANGING
    begins = facts.get("init_lora_weights", True) in (True, False, None, "gaussian")  # others change the base as well
    named = isinstance(facts.get("base_model_name_or_path"), str) and isinstance(facts.get("lora_alpha"), int | float)
    return known and begins and named and (facts.get("peft_type"), facts.get("task_type")) == ("LORA", "SEQ_CLS")


def read_adapted(folder: Path, classes: Classes, dtype: torch.dtype) -> tuple[Any, list[str], Path]:  # Any: a network
    """The base of an adapter with the adapter's weights, the names of weights that both lack, and the base's folder.

    Source: Hu et al. (2022), "LoRA: Low-Rank Adaptation of Large Language Models", section 4.1: W + alpha / r x B A.
    """
    facts = read_object(folder / ADAPTER)
    base = str(facts["base_model_name_or_path"])
    try:
        there = local_folder(base)
    except Exception as error:  # the hub's client raises many kinds
        raise BadFile(
            f"The folder {quoted(str(folder))} holds an adapter of {quoted(base)}. {why_not(base, error)}; put the "
            f"base where that name says, or merge both: PeftModel.from_pretrained(base, folder).merge_and_unload()."
        ) from None
    weight_sizes([folder / ADAPTER_WEIGHTS])  # raises for spoilt headers
    tensors = {name.removeprefix(INSIDE): tensor for name, tensor in load_file(folder / ADAPTER_WEIGHTS).items()}
    heads = (tensor for name, tensor in tensors.items() if HEAD.fullmatch(name))
    network, missing = read_network(there, classes, dtype, next(map(len, heads), None))
    with torch.no_grad():
        for name in tensors:
            try:
                _add(network, name, tensors, facts)
            except (AttributeError, KeyError, RuntimeError) as error:
                unfit = f"{quoted(name)}, which does not fit {quoted(base)}: {reason(error)}"
                raise BadFile(f"{folder / ADAPTER_WEIGHTS} has {unfit}.") from None
    return network, [name for name in missing if name not in tensors], there


def _add(network: Any, name: str, tensors: Mapping[str, torch.Tensor], facts: Mapping[str, Any]) -> None:
    """Add the product that begins with this matrix, or put a weight of its own in its place."""
    place, _, kind = name.partition(".lora_")
    if not kind:
        if (weight := network.get_parameter(name)).shape != tensors[name].shape:
            raise KeyError(f"{tuple(tensors[name].shape)} in place of {tuple(weight.shape)}")
        weight.copy_(tensors[name])
    elif kind in ("A.weight", "embedding_A"):
        second = tensors[f"{place}.lora_{kind.replace('A', 'B')}"]
        module, first = network.get_submodule(place), tensors[name]
        rank = math.sqrt(len(first)) if facts.get("use_rslora") else len(first)
        product = facts["lora_alpha"] / rank * (second.float() @ first.float())
        turned = kind == "embedding_A" or isinstance(module, Conv1D)
        module.weight += (product.T if turned else product).to(module.weight)
    elif kind not in ("B.weight", "embedding_B") or f"{place}.lora_{kind.replace('B', 'A')}" not in tensors:
        raise KeyError(name)


# Loading without the noise of the libraries below.

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


# While a stranger's folder is read, the libraries ask no questions at the terminal and load no kernels from the hub.

# The library changes classes of its own while it loads, such as `PreTrainedModel.tie_weights`, and puts back what it
# met. Two that load at once would leave the change behind for the rest of the process, so the second one waits.
_LOADING = RLock()


@contextmanager
def guarded() -> Iterator[None]:
    """The libraries neither ask on standard input nor load kernels; afterwards all is as before.

    These switches belong to the whole process, so one thread at a time is inside; the others wait.
    """
    with _LOADING:
        seconds, get = dynamic_module_utils.TIME_OUT_REMOTE_CODE, hub_kernels.get_kernel
        _set(0, _no_kernel)  # with no time for an answer, the question is an error at once
        try:
            yield
        finally:
            _set(seconds, get)


def _set(seconds: int, get: Callable[..., Any]) -> None:
    dynamic_module_utils.TIME_OUT_REMOTE_CODE = seconds
    hub_kernels.get_kernel = get


def _no_kernel(name: str, *_: object, **__: object) -> None:
    """The library goes on without a kernel that is not there."""
    raise FileNotFoundError(f"the kernel {name} is code of the hub, which is not loaded")
