"""A trained translator in one folder: its network's configuration, its layer of spans, its weights and pieces.

The configuration is no library's: read by a library without the layer, the weights would be another model.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from safetensors.torch import load_file
from torch import Tensor, nn
from transformers import MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING

from pellucid.base.checks import reason
from pellucid.base.errors import BadFile
from pellucid.base.files import disk_errors, write_text
from pellucid.base.json_text import Json
from pellucid.base.memory import check_memory
from pellucid.base.torch_state import OwnDraws, UndrawnParameters
from pellucid.models.classifiers.hugging_face import load_tokenizer
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.composed.composed import save_tokenizer
from pellucid.models.folders.configuration import check_files, check_values, configuration, read_object
from pellucid.models.folders.library_network import guarded, new_network, quiet
from pellucid.models.folders.weight_files import (
    WeightSizes,
    check_numbers,
    check_sizes,
    save_tensors,
    weight_sizes,
)
from pellucid.models.translation.lstm_network import LstmConfig, LstmTranslator, lstm_config
from pellucid.models.translation.source_spans import SourceSpans, SpanReading, SpanSettings
from pellucid.run.module_hooks import after_every_call, hook_output

FORM = "pellucid-translator-1"
CONFIG, WEIGHTS = "config.json", "model.safetensors"
# Of folders that do not say it: they were trained before scores were divided by the square root of the width.
UNSCALED = {"scale": False}


@dataclass(frozen=True)
class TranslatorParts:
    """What a folder holds. trained: how the model was trained, as `train_translator` wrote it."""

    network: Any  # an encoder–decoder; Any because its parts differ by family
    tokenizer: Tokenizer
    trained: dict[str, Json]


def is_translator(folder: str | Path) -> bool:
    """Whether a folder holds a translator of ours."""
    path = Path(folder) / CONFIG
    return path.is_file() and read_object(path).get("form") == FORM


def save_translator(parts: TranslatorParts, folder: Path) -> None:
    """Write tokenizer, weights and, last, config.json: where that is, the translator is whole."""
    save_tokenizer(parts.tokenizer, folder)
    save_tensors(own_tensors(parts.network), folder / WEIGHTS)
    spans = source_spans_of(parts.network)
    config = {
        "form": FORM,
        "network": parts.network.config.to_dict(),
        "source_spans": None if spans is None else spans.settings.record(),
        "trained": parts.trained,
    }
    write_text(folder / CONFIG, json.dumps(config, indent=2, ensure_ascii=False))


def own_tensors(network: nn.Module) -> dict[str, Tensor]:
    """A network's weights by name, those under several names once."""
    first: dict[tuple[int, int], str] = {}
    tensors = network.state_dict()
    for name, tensor in tensors.items():
        first.setdefault((tensor.data_ptr(), tensor.numel()), name)
    return {name: tensors[name] for name in first.values()}


def load_own_tensors(network: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `own_tensors` gave; raises `ValueError` where one is missing, or is none of the network's."""
    expected = own_tensors(network).keys()
    if expected != tensors.keys():
        odd = sorted(expected ^ tensors.keys())[0]
        raise ValueError(f"the weights {odd} are missing, or none of this network's")
    network.load_state_dict(dict(tensors), strict=False)


def load_translator(folder: Path) -> TranslatorParts:
    """Load what `save_translator` wrote; raises `BadFile` when a part is missing or does not fit."""
    check_files(folder)
    values = read_object(folder / CONFIG)
    check_values(values, folder / CONFIG)
    try:
        sizes = weight_sizes([folder / WEIGHTS])
        built = {name: value for name, value in values.items() if name != "trained"}
        check_numbers(built, sizes, folder / CONFIG)
        network = _network(values, sizes, folder)
        with disk_errors("read", folder / WEIGHTS):
            load_own_tensors(network, load_file(folder / WEIGHTS))
    except BadFile:
        raise
    except Exception as error:
        check_memory(error, f"load {folder}")
        raise BadFile(f"{folder} does not hold a whole translator: {reason(error)}.") from None
    trained = values.get("trained")
    return TranslatorParts(network.eval(), load_tokenizer(folder), trained if isinstance(trained, dict) else {})


def _network(values: dict[str, Json], sizes: WeightSizes, folder: Path) -> Any:  # Any: see `TranslatorParts`
    """The network with its layer; the weights are still to be loaded."""
    config = values["network"]
    if not isinstance(config, dict):
        raise ValueError("the network in its config.json is no object")
    known = None if config.get("model_type") == LstmConfig.model_type else configuration(config)

    def build() -> Any:  # Any: see above
        network: Any = (  # Any: see above
            LstmTranslator(lstm_config(config))  # the library does not know it
            if known is None
            else new_network(known, MODEL_FOR_SEQ_TO_SEQ_CAUSAL_LM_MAPPING)
        )
        spans = values["source_spans"]
        if isinstance(spans, dict):
            settings = UNSCALED | cast(dict[str, Any], spans)
            add_source_spans(network, SpanSettings(**settings))
        return network

    with quiet(), guarded(), OwnDraws(0), UndrawnParameters():  # the weights are those of the file
        check_sizes(build, sizes, folder / CONFIG)
        return build()


# The layer of source spans on top of a library network's decoder, whatever its family: everything after it stays as
# it was.


def add_source_spans(network: Any, settings: SpanSettings) -> None:  # Any: an encoder–decoder of some family
    """Put a new layer on the decoder; searches, caches and the head over the vocabulary go on with its states."""
    decoder = network.get_decoder()
    decoder.source_spans = SourceSpans(network.config.hidden_size, settings)
    after_every_call(decoder, _with_spans)


def source_spans_of(network: Any) -> SourceSpans | None:  # Any: see above
    """The layer on a network's decoder, if it has one."""
    decoder = network.get_decoder() if network.config.is_encoder_decoder else network
    layer = getattr(decoder, "source_spans", None)
    return layer if isinstance(layer, SourceSpans) else None


def _with_spans(decoder: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any) -> Any:
    layer: Any = decoder.source_spans
    states, source = output.last_hidden_state, kwargs["encoder_hidden_states"]
    output.last_hidden_state = layer(states, source, kwargs.get("encoder_attention_mask"))
    return output


@contextmanager
def span_readings(network: Any) -> Iterator[list[SpanReading]]:  # Any: see above
    """What the layer of source spans reads inside, call by call; nothing of a network without one."""
    layer, readings = source_spans_of(network), list[SpanReading]()
    if layer is None:
        yield readings
        return
    remove = hook_output(layer.choose, lambda _, __, reading: readings.append(reading))
    try:
        yield readings
    finally:
        remove()
