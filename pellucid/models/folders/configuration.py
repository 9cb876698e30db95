"""The configuration of a stranger's model: entries that could run code, fetch files or build without bounds are refused.

Only the attention implementations `eager` and `sdpa` are read from it: they are torch's own. Other names, such as a
repository of kernels, are left out, and the library chooses one of its own. The answers are the same.
"""

from collections.abc import Iterator
from pathlib import Path

from transformers import CONFIG_MAPPING, PreTrainedConfig

from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors
from pellucid.base.json_text import Json, parsed
from pellucid.base.wording import quoted
from pellucid.models.folders.contained_paths import check_files

CONFIG = "config.json"
# Files in which the libraries look for classes to import.
READ = (
    CONFIG,
    "tokenizer_config.json",
    "generation_config.json",
    "processor_config.json",
    "preprocessor_config.json",
    "video_preprocessor_config.json",
    "special_tokens_map.json",
)
ATTENTION = ("eager", "sdpa")
# Names under which a configuration chooses implementations, patches of the library, and weights.
IMPLEMENTATIONS = ("attn_implementation", "experts_implementation")
LEFT_OUT = ("fusion_config", "kernel_config", "use_kernels", "distributed_config", "transformers_weights")


def read_configuration(folder: Path) -> dict[str, Json]:
    """The values of a folder's config.json; raises `BadFile` where any file beside it asks for code."""
    check_files(folder)
    for name in READ:
        if (folder / name).exists():
            check_values(read_object(folder / name), folder / name)
    if (folder / "adapter_config.json").exists():
        raise BadFile(
            f"{folder} holds an adapter (adapter_config.json); merge it into its model and save that with save_pretrained."
        )
    return read_object(folder / CONFIG)


def check_values(values: dict[str, Json], path: Path) -> None:
    """Raise `BadFile` where values of a configuration, however deep, ask for code, other files or another library."""
    for name, value in entries(values):
        if name == "auto_map" and value:
            raise BadFile(
                f"{path} asks for code of its own (auto_map), which is never run; take that entry out."
            )
        if name == "quantization_config" and value:
            raise BadFile(
                f"{path} describes quantized weights; dequantize the model and save it with save_pretrained."
            )
        if name == "fast_tokenizer_files" and value:
            raise BadFile(
                f"{path} names other tokenizer files (fast_tokenizer_files); only tokenizer.json is read."
            )
        backbone = "backbone" in name or (name == "model_type" and str(value).startswith("timm"))
        if backbone and value not in (None, False):
            raise BadFile(
                f"{path} asks for the model {quoted(str(value))} of another library; give an encoder of texts."
            )


def configuration(values: dict[str, Json]) -> PreTrainedConfig:
    """The library's configuration of checked values; raises `ValueError` for a type of model that it does not have."""
    kind = values.get("model_type")
    if kind == "mistral" and "layer_types" in values:
        kind = "ministral"  # as the library reads it
    if not isinstance(kind, str) or kind not in CONFIG_MAPPING:
        raise ValueError(
            f"model_type={quoted(kind)} in its config.json is no type of model that is known here"
        )
    return CONFIG_MAPPING[kind].from_dict(_with_known_implementations(values))


def tokenizer_configuration(folder: Path) -> PreTrainedConfig:
    """The part of a configuration by which the library chooses a tokenizer: the type of its model, without any size.

    Raises `BadFile` as `read_configuration` does.
    """
    values = read_configuration(folder)
    kind: dict[str, Json] = {
        name: values[name] for name in ("model_type", "tokenizer_class") if name in values
    }
    if values.get("model_type") == "mistral" and "layer_types" in values:
        kind["layer_types"] = None
    try:
        config = configuration(kind)
    except Exception:  # a composed model, or one that has no sizes of its own
        config = PreTrainedConfig.from_dict({"tokenizer_class": values.get("tokenizer_class")})
    config.name_or_path = str(folder)
    return config


def _with_known_implementations(values: dict[str, Json]) -> dict[str, Json]:
    """The values without other implementations than torch's own, however deep."""
    return {
        name: _known_inside(value)
        for name, value in values.items()
        if name not in LEFT_OUT and (not _chooses(name) or value in ATTENTION)
    }


def _known_inside(value: Json) -> Json:
    if isinstance(value, list):
        return [_known_inside(item) for item in value]
    return _with_known_implementations(value) if isinstance(value, dict) else value


def _chooses(name: str) -> bool:
    return str(name).strip("_").removesuffix("_internal") in IMPLEMENTATIONS


def entries(values: Json) -> Iterator[tuple[str, Json]]:
    """Every name and value of a JSON value, however deep; items of a list have its name."""
    waiting: list[tuple[str, Json]] = [("", values)]
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend((str(inner), part) for inner, part in value.items())
        elif isinstance(value, list):
            waiting.extend((name, part) for part in value)
        yield name, value


# JSON files of a stranger's folder: read only up to a size, and refused in one sentence.


LARGEST = 16 << 20  # bytes; the configuration of a classifier with 100,000 classes has half of that


def read_object(path: Path) -> dict[str, Json]:
    """The JSON object in a file; raises `BadFile` for anything else, and for more than 16 MB."""
    with disk_errors("read", path), path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise BadFile(
            f"{path} has more than {LARGEST >> 20} MB, which no configuration needs; give another folder."
        )
    try:
        values = parsed(content.decode("utf-8-sig"))
    except ValueError:
        raise BadFile(f"{path} is not JSON, or nested too deeply.") from None
    if not isinstance(values, dict):
        raise BadFile(f"{path} is not a JSON object; save the model anew with save_pretrained.")
    return values
