"""Everything that is guessed about a family of models by a name in its modules or its configuration.

What a running network shows is observed (`structure.py`) and not guessed. Each probe says which families it was tried
on; `tests/models/test_probes.py` tries them again. The families of these tests, "all sixteen": BERT, RoBERTa, XLM-R,
DistilBERT, ELECTRA, ALBERT, MPNet, DeBERTa-v2, DeBERTa-v3, ModernBERT, GPT-2, Llama, Qwen2, Mistral, Gemma, GPT-NeoX.
`docs/capabilities.md` is what came of all other families of the library.
"""

import copy
import inspect
from collections.abc import Iterator, Mapping
from itertools import chain
from operator import attrgetter
from typing import Any, Protocol

import torch
from torch import Tensor, nn

IDS = "input_ids"
COLUMNS = (IDS, "attention_mask", "token_type_ids")  # what tokenizers give
TEXT_PARTS = ("text_config", "encoder", "decoder", "text_encoder")
BERT_PARTS = (
    "attention.self.query",
    "attention.output.dense",
    "intermediate",
    "output.dense",
    "output.LayerNorm",
)
# Where a configuration was stored and by whom: this changes no answer of the network.
INCIDENTAL = {"_name_or_path", "transformers_version", "architectures", "dtype", "id2label", "label2id"}


class WithValues(Protocol):
    """A configuration, of the library or of a registered encoder."""

    def to_dict(self) -> dict[str, object]:
        """All values, as JSON can hold them."""
        ...


class WithModules(Protocol):
    """A network, or an encoder."""

    def named_modules(self) -> Iterator[tuple[str, nn.Module]]:
        """As of every torch module."""
        ...


def text_configs(config: object) -> list[object]:
    """The configurations inside a configuration that are about text, then itself; innermost first.

    Newer families keep theirs in a configuration of its own. Tried on T5Gemma (encoder) and Gemma3 (text_config); in
    all sixteen the configuration is flat.
    """
    parts = [getattr(config, name, None) for name in TEXT_PARTS]
    return [inner for part in parts if hasattr(part, "to_dict") for inner in text_configs(part)] + [config]


def first_named(config: object, *names: str) -> int | None:
    """The first number that is not None, of any of these names, in the configuration or its parts about text."""
    values = (getattr(part, name, None) for part in text_configs(config) for name in names)
    return next((value for value in values if value is not None), None)


def with_value(config: object, name: str, value: int | None) -> object:
    """A copy of a configuration with another value of this name, also in its parts about text; the original is
    untouched.
    """
    changed = copy.copy(config)
    for part in TEXT_PARTS:
        inner = getattr(config, part, None)
        if hasattr(inner, "to_dict"):
            setattr(changed, part, with_value(inner, name, value))
    setattr(changed, name, value)
    return changed


def with_config(network: nn.Module, config: object) -> nn.Module:
    """A shallow copy of a network, with the same weights and another configuration; the original is untouched.

    Of an adapted network (PEFT's) the copy reaches down to the network inside, which reads the configuration.
    """
    twin: Any = copy.copy(network)  # Any: torch's modules declare no configuration
    twin.config = config
    inside = twin
    for name in adapted_place(network).split("."):
        if name:
            inside._modules = {**inside._modules, name: copy.copy(inside._modules[name])}
            inside = inside._modules[name]
    inside.config = config
    return twin


def adapted_place(network: nn.Module) -> str:
    """Where in a wrapper that borrows the library's methods, as PEFT's do, the library's network is; "" for others."""
    if hasattr(type(network), "get_input_embeddings"):
        return ""
    inside = (name for name, module in network.named_modules() if hasattr(type(module), "get_input_embeddings"))
    return next(inside, "")


def adapted_network(network: nn.Module) -> nn.Module:
    """The library's network inside a wrapper as PEFT's; others themselves."""
    return network.get_submodule(adapted_place(network))


def computing_config(config: WithValues) -> dict[str, object]:
    """The part of a configuration that the answers depend on: without `INCIDENTAL`. Tried on all sixteen."""
    return {name: value for name, value in config.to_dict().items() if name not in INCIDENTAL}


def most_pieces(config: object, skipped: int = 0) -> int | None:
    """The most pieces that the configuration allows; None where it names no number, or one below 1.

    skipped: positions in front that no piece has. Tried on all sixteen (max_position_embeddings) and on MPT
    (max_seq_len); T5 names none, XLNet says -1.
    """
    named = first_named(config, "max_position_embeddings", "max_seq_len")
    return named - skipped if named is not None and named > 0 else None


def most_positions(config: object) -> int | None:
    """The positions of an encoder in a composed model. Tried on BERT, RoBERTa, MiniLM and the encoders of
    `encoders/`.
    """
    named = getattr(config, "max_position_embeddings", None)
    return None if named is None else int(named)


def layer_counts(config: object) -> set[int]:
    """How many blocks the configuration names: one number, or one a part about text. Tried on all sixteen."""
    named = {getattr(part, "num_hidden_layers", None) for part in text_configs(config)}
    return {count for count in named if count is not None}


def knows_token_types(config: object) -> bool:
    """Whether an encoder reads token types. Tried on BERT and ALBERT (2 types: yes), RoBERTa (1: no), MPNet (unnamed:
    no).
    """
    return getattr(config, "type_vocab_size", 0) > 1


def end_id(config: object) -> int | None:
    """The id of the end token whose state a network with encoder and decoder may read, else None. Tried on BART, T5,
    MBart.
    """
    end = getattr(config, "eos_token_id", None)
    return end if getattr(config, "is_encoder_decoder", False) and isinstance(end, int) else None


def named_embedding(network: nn.Module) -> nn.Module | None:
    """The module that the network names as its input embeddings; None where it names none.

    Tried on all sixteen (the module that reads the ids); CANINE names none.
    """
    try:
        return network.get_input_embeddings()  # type: ignore[operator]
    except (NotImplementedError, AttributeError):
        return None


def device_of(network: nn.Module) -> torch.device:
    """Where a network's weights are, or its buffers where it has no weights; the processor where it has neither."""
    tensors = chain(network.parameters(), network.buffers())
    return next((tensor.device for tensor in tensors), torch.device("cpu"))


def rows_of_table(embedding: nn.Module | None) -> int | None:
    """How many ids a module looks up; None where it does not say. Tried on all sixteen (a weight), and on a quantised
    table (a number).
    """
    weight = getattr(embedding, "weight", None)
    rows = weight.shape[0] if isinstance(weight, Tensor) else getattr(embedding, "num_embeddings", None)
    return None if rows is None else int(rows)


def first_position(network: WithModules) -> int:
    """The position id of the first token, by the padding id of a table called position_embeddings.

    Tried on RoBERTa, XLM-R and MPNet, which count from their padding id + 1; BERT's family counts from 0, and decoders
    have no such table.
    """
    tables = [module for name, module in network.named_modules() if name.endswith("position_embeddings")]
    padding = getattr(tables[0], "padding_idx", None) if tables else None
    return 0 if padding is None else padding + 1


def attention_modules(block: nn.Module) -> list[nn.Module]:
    """A block's modules with weights and "att" in their name: attention, attn, self_attn.

    Tried on all sixteen. In Llama's family and GPT-NeoX the norm post_attention_layernorm is among them, which does no
    harm where it is used: it computes in float32, as a norm should.
    """
    return [
        module
        for name, module in block.named_modules()
        if "att" in name.rpartition(".")[2] and next(module.parameters(), None) is not None
    ]


def bert_layers(network: nn.Module) -> list[Any]:  # Any: modules whose parts go by BERT's names
    """The blocks made of BERT's parts by their names. Tried on BERT, RoBERTa, XLM-R and ELECTRA; none in the other
    twelve.
    """
    return [module for module in network.modules() if all(_has(module, part) for part in BERT_PARTS)]


def _has(module: nn.Module, part: str) -> bool:
    try:
        return isinstance(attrgetter(part)(module), nn.Module)
    except AttributeError:
        return False


def block_input(args: tuple[Any, ...], kwargs: Mapping[str, object]) -> Any:  # Any: a tensor where it is a block
    """What a block reads: its first argument, or the one called hidden_states; None for neither. Tried on all
    sixteen.
    """
    return args[0] if args else kwargs.get("hidden_states")


def columns_of(network: nn.Module, columns: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """The columns of a tokenizer that a network's forward takes by name; all, where it hands on whatever it gets."""
    parameters = inspect.signature(network.forward).parameters
    hands_on = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    return {name: column for name, column in columns.items() if hands_on or name in parameters}


def parameter_names(network: nn.Module) -> frozenset[str]:
    """The names of the arguments that a network's forward takes. Tried on all sixteen.

    A forward that names no ids and hands on whatever it gets, such as `(*args, **kwargs)`, takes what that of its class
    takes; and where that one hands on too, the columns of a tokenizer.
    """
    for forward in (network.forward, type(network).forward):
        parameters = inspect.signature(forward).parameters
        hands_on = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
        if IDS in parameters or not hands_on:
            return frozenset(parameters)
    return frozenset(COLUMNS)


def set_dropout(encoder: nn.Module, rate: float) -> None:
    """Give every dropout of an encoder this rate: modules of dropout, and numbers with "dropout" in their name.

    Tried on all sixteen (with rate 0, two runs in training mode are equal).
    """
    for module in encoder.modules():
        if isinstance(module, nn.Dropout):
            module.p = rate
        for name, value in vars(module).items():
            if "dropout" in name and isinstance(value, float):
                setattr(module, name, rate)


def without_cache(names: frozenset[str]) -> dict[str, bool]:
    """The setting that keeps a decoder from storing its states for generating. Tried on the six decoders of the
    sixteen.
    """
    return {"use_cache": False} if "use_cache" in names else {}
