"""The configuration of a model's folder, read as data: which kind of model it is, and paths that stay inside it."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from huggingface_hub import constants
from transformers import CONFIG_MAPPING, PreTrainedConfig

from pellucid.base.checks import quoted
from pellucid.base.errors import BadFile, ModelCannot
from pellucid.base.files import disk_errors
from pellucid.base.json_text import Json, parsed

READABLE = (".json", ".safetensors", ".txt", ".model", ".jinja")  # what the libraries may open
LARGEST_LINKED = 64 << 20  # bytes of one that is read whole; the largest tokenizer.json in use has half of that


def check_files(folder: Path) -> None:
    """Raise `BadFile` when a file that may be read is a link that leads outside, a pipe, a device or far too large.

    A link into the hub's cache is allowed: there a snapshot's files are links to blobs.
    """
    with disk_errors("read", folder):
        for path in folder.iterdir():
            if path.suffix in READABLE and (path.is_symlink() or not path.is_dir()):
                _check_target(path, folder)


def _check_target(path: Path, folder: Path) -> None:
    try:
        target = path.resolve(strict=True)
    except (OSError, RuntimeError):
        raise BadFile(f"{path} is a link that leads nowhere; put the file there.") from None
    if not target.is_file():
        raise BadFile(f"{path} is not a file; put one there.")
    if path.suffix != ".safetensors" and target.stat().st_size > LARGEST_LINKED:
        raise BadFile(f"{path} has more than {LARGEST_LINKED >> 20} MB, which no tokenizer needs; give another folder.")
    whole = folder.resolve()
    allowed = [whole, Path(constants.HF_HUB_CACHE).resolve()]
    if whole.parent.name == "snapshots":
        allowed.append(whole.parents[1] / "blobs")
    if path.is_symlink() and not any(target.is_relative_to(place) for place in allowed):
        raise BadFile(f"{path} is a link that leads out of its folder; put the file itself there.")


def file_inside(folder: Path, name: object, where: str) -> Path:
    """The file of that name directly in a folder; raises `BadFile` for a name that leads elsewhere.

    where: the file that names it.
    """
    plain = isinstance(name, str) and name not in ("", ".", "..") and not set(name) & set("/\\:\0")
    if not plain:
        raise BadFile(f"{folder / where} names the weights {quoted(str(name))}; only files beside it are read.")
    return folder / str(name)


# Models that are no text classifiers, by what their folders and classes say: what each is, and what to do instead.

CLASSIFIER = "ForSequenceClassification"
# How the names of classes end -> what such a model does; the longest ending that fits counts.
KINDS = {
    "ForTokenClassification": "labels single words (token classification)",
    "ForQuestionAnswering": "finds answers to questions in a text (question answering)",
    "ForMaskedLM": "guesses masked words (masked language model)",
    "ForPreTraining": "guesses masked words (a model before it is fine-tuned)",
    "ForCausalLM": "continues texts (text generation)",
    "LMHeadModel": "continues texts (text generation)",
    "ForConditionalGeneration": "writes one text for another (translation, summaries and the like)",
    "ForSeq2SeqLM": "writes one text for another (translation, summaries and the like)",
    "ForMultipleChoice": "chooses among answers (multiple choice)",
    "ForNextSentencePrediction": "says whether one sentence follows another",
    "ForImageClassification": "classifies pictures",
    "ForAudioClassification": "classifies sounds",
    "ForCTC": "writes down speech",
    "ForSpeechSeq2Seq": "writes down speech",
    "ForZeroShotImageClassification": "compares pictures with texts",
}
ENCODERS = ("ForMaskedLM", "ForPreTraining")  # of which a classifier can be trained
WRITERS = ("ForCausalLM", "ForConditionalGeneration")
WITH_LOGITS = ("ForNextSentencePrediction", "ForMultipleChoice")  # one a class, of texts
EMBEDDINGS = "turns texts into vectors (sentence embeddings)"
# A file that tells what made a folder -> what the model does.
SIGNS = {
    "config_setfit.json": "is a SetFit model",
    "modules.json": EMBEDDINGS,
    "config_sentence_transformers.json": EMBEDDINGS,
}
TASKS = {  # what a pipeline is for -> what its model does
    "token-classification": KINDS["ForTokenClassification"],
    "ner": KINDS["ForTokenClassification"],
    "question-answering": KINDS["ForQuestionAnswering"],
    "fill-mask": KINDS["ForMaskedLM"],
    "text-generation": KINDS["ForCausalLM"],
    "summarization": KINDS["ForConditionalGeneration"],
    "translation": KINDS["ForConditionalGeneration"],
    "feature-extraction": EMBEDDINGS,
}
ADAPTER = "adapter_config.json"  # what PEFT writes
WHAT_TO_DO = (
    "Pellucid explains text classifiers: give one that was fine-tuned to classify whole texts "
    "(…ForSequenceClassification)"
)
TRAIN = "or train one from it: pellucid.train(data, encoder=..., out=...), pellucid train DATA --encoder FOLDER"
COMPARE = "or explain how alike it says two texts are: pellucid.similarity(FOLDER)"
WRITE = "or explain what it writes: pellucid.explain((model, tokenizer), (text, answer)), pellucid explain MODEL"
NETWORK = "or give its network, so that gradients stay: pellucid.from_network(network, tokenize=…, logits=…, labels=…)"
WRAP = "or wrap it as a function from texts to probabilities: pellucid.from_function(predict, labels)"


def check_folder_kind(folder: Path, name: object) -> None:
    """Raise `ModelCannot` for the folder of a model that is no text classifier; name: what messages call it."""
    if (folder / ADAPTER).is_file() and not (folder / CONFIG).exists():
        raise ModelCannot(_of_adapter(folder, name))
    if not (folder / CONFIG).exists() and not any((folder / sign).is_file() for sign in SIGNS):
        raise BadFile(
            f"The folder {quoted(str(name))} holds no {CONFIG}, so it is no model's; give the one that "
            f"`save_pretrained` wrote."
        )
    classes = class_names(folder)
    if any(kind.endswith(CLASSIFIER) for kind in classes):
        return
    does = next((does for sign, does in SIGNS.items() if (folder / sign).is_file()), None)
    if does is not None:
        raise ModelCannot(wrong_kind(name, does, WRAP if does != EMBEDDINGS else f"{COMPARE}, {TRAIN}"))
    for kind in classes:
        refuse_class(kind, name)


def _of_adapter(folder: Path, name: object) -> str:
    """What is said of a folder with an adapter alone, which changes another model's weights."""
    try:
        facts = read_object(folder / ADAPTER)
    except BadFile:
        facts = {}
    base = facts.get("base_model_name_or_path")
    of_base = f" of {quoted(base)}" if isinstance(base, str) else ""
    return (
        f"The folder {quoted(str(name))} holds an adapter{of_base}, and not the model that it changes; merge both, "
        f"and save that with the tokenizer: PeftModel.from_pretrained(base, "
        f"folder).merge_and_unload().save_pretrained(merged)."
    )


def class_names(folder: Path) -> list[str]:
    """The classes that a folder's config.json names; empty where there is none."""
    if not (folder / CONFIG).is_file():
        return []
    values: Mapping[str, Any] = read_object(folder / CONFIG)
    names = values.get("architectures")
    return [name for name in names if isinstance(name, str)] if isinstance(names, list) else []


def refuse_class(kind: str, name: object) -> None:
    """Raise `ModelCannot` where a class's name says that its models do something else than classify texts."""
    ending = max((ending for ending in KINDS if kind.endswith(ending)), key=len, default=None)
    if ending is not None:
        raise ModelCannot(wrong_kind(name, KINDS[ending], way_for(KINDS[ending])))


def way_for(does: str) -> str:
    """What can be done with a model that does this: what Pellucid does itself before a function."""
    if does in [KINDS[ending] for ending in ENCODERS]:
        return TRAIN
    if does in [KINDS[ending] for ending in WRITERS]:
        return WRITE
    return f"{NETWORK}, {WRAP}" if does in [KINDS[ending] for ending in WITH_LOGITS] else WRAP


def wrong_kind(name: object, does: str, way: str = WRAP) -> str:
    """One sentence: what the model does, what Pellucid explains, and what to do."""
    return f"{name} is no text classifier: it {does}. {WHAT_TO_DO}, {way}."


# The configuration of a stranger's model: entries that could run code, fetch files or build without bounds are
# refused.
#
# Only the attention implementations `eager` and `sdpa` are read from it: they are torch's own. Other names, such as a
# repository of kernels, are left out, and the library chooses one of its own. The answers are the same.

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
            f"{folder} holds an adapter (adapter_config.json); merge it into its model and save that with "
            f"save_pretrained."
        )
    return read_object(folder / CONFIG)


def check_values(values: dict[str, Json], path: Path) -> None:
    """Raise `BadFile` where values of a configuration, however deep, ask for code, other files or another library."""
    for name, value in entries(values):
        if name == "auto_map" and value:
            raise BadFile(f"{path} asks for code of its own (auto_map), which is never run; take that entry out.")
        if name == "quantization_config" and value:
            raise BadFile(f"{path} describes quantized weights; dequantize the model and save it with save_pretrained.")
        if name == "fast_tokenizer_files" and value:
            raise BadFile(f"{path} names other tokenizer files (fast_tokenizer_files); only tokenizer.json is read.")
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
        raise ValueError(f"model_type={quoted(kind)} in its config.json is no type of model that is known here")
    return CONFIG_MAPPING[kind].from_dict(_with_known_implementations(values))


def tokenizer_configuration(folder: Path) -> PreTrainedConfig:
    """The part of a configuration by which the library chooses a tokenizer: the type of its model, without any size.

    Raises `BadFile` as `read_configuration` does.
    """
    values = read_configuration(folder)
    kind: dict[str, Json] = {name: values[name] for name in ("model_type", "tokenizer_class") if name in values}
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
        raise BadFile(f"{path} has more than {LARGEST >> 20} MB, which no configuration needs; give another folder.")
    try:
        values = parsed(content.decode("utf-8-sig"))
    except ValueError:
        raise BadFile(f"{path} is not JSON, or nested too deeply.") from None
    if not isinstance(values, dict):
        raise BadFile(f"{path} is not a JSON object; save the model anew with save_pretrained.")
    return values
