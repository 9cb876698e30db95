"""Networks of Hugging Face from a folder: everything in it is checked first, and only safetensors are opened.

The library gets a configuration and tensors, never the folder. So there is no file in which it could find code,
pickles, other weights or other models.
"""

from collections.abc import Mapping
from contextlib import ExitStack
from copy import deepcopy
from pathlib import Path
from typing import Any, TypeAlias

import torch
from safetensors import safe_open
from transformers import PreTrainedConfig, PreTrainedModel

from pellucid.core.foundation.errors import BadFile
from pellucid.models.folders.configuration import CONFIG, configuration, read_configuration
from pellucid.models.folders.sizes import check_numbers, check_sizes
from pellucid.models.folders.unattended import guarded
from pellucid.models.folders.weight_files import weight_files, weight_sizes

# Such as `MODEL_MAPPING`, from a configuration's class to its network's. Any: the library declares a pair of classes, and
# gives one class, or a tuple of several.
Classes: TypeAlias = Mapping[type[PreTrainedConfig], Any]


def read_network(
    folder: Path, classes: Classes, dtype: torch.dtype
) -> tuple[Any, list[str]]:  # Any: a network
    """A folder's network, and the names of weights that it lacks; raises `BadFile` for what is not safe to read."""
    values = read_configuration(folder)
    files = weight_files(folder, values)
    sizes = weight_sizes(files)
    check_numbers(values, sizes, folder / CONFIG)
    if values.get("id2label") == {}:
        raise BadFile(f"{folder / CONFIG} names no class; name every class in its id2label.")
    with guarded(), ExitStack() as opened:
        kind, config = network_class(configuration(values), classes)
        check_sizes(lambda: kind(deepcopy(config)), sizes, folder / CONFIG)
        answer: Any = kind.from_pretrained(  # Any: it is a pair, by its last setting
            None,
            config=config,
            state_dict=_slices(files, opened),
            trust_remote_code=False,
            use_safetensors=True,
            local_files_only=True,
            dtype=dtype,
            output_loading_info=True,
        )
    network, info = answer
    network.config.name_or_path = str(folder)
    return network, list(info["missing_keys"])


def network_class(
    config: PreTrainedConfig, classes: Classes
) -> tuple[type[PreTrainedModel], PreTrainedConfig]:
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
