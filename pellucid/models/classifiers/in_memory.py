"""Networks in memory: a digest of their weights and tokenizer, and whether they are what their files say."""

import inspect
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from itertools import chain
from types import NoneType
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import Node, get_gradient_edge
from torch.utils._pytree import tree_leaves, tree_map

from pellucid.base.checks import listed, of_class
from pellucid.base.errors import ModelCannot
from pellucid.base.torch_state import checksum
from pellucid.models.families.probes import IDS, adapted_network
from pellucid.models.folders.configuration import refuse_class
from pellucid.run.module_hooks import hook_output

PLAIN = (
    str,
    bytes,
    bool,
    int,
    float,
    complex,
    torch.dtype,
    type(None),
)  # whose words are the same in every process


def network_digest(network: nn.Module, settings: object) -> str:
    """32 hexadecimal digits for the weights and for settings, any JSON; raises `ModelCannot` for weights without
    numbers.
    """
    digest = blake2b(digest_size=16)
    for name, entry in sorted(network.state_dict().items(), key=lambda pair: pair[0]):
        digest.update(name.encode())
        for part in parts_of(name, entry):
            if isinstance(part, str):
                digest.update(part.encode())
            elif part.numel():
                digest.update(part.detach().cpu().contiguous().flatten().view(torch.uint8).numpy().data)
    digest.update(json.dumps(settings, sort_keys=True, default=str).encode())
    return digest.hexdigest()


def network_state(network: nn.Module) -> tuple[tuple[object, ...], ...]:
    """A value that changes when weights are replaced or changed in place, also through `.data`, which torch does not
    count.

    It takes about as long as reading the memory, a fifteenth of the digest's time. It notices every single number that
    changes; it may miss two numbers that change places within 2,048 bytes.
    """
    return tuple(_state(name, entry) for name, entry in network.state_dict().items())


def _state(name: str, entry: object) -> tuple[object, ...]:
    parts = list(parts_of(name, entry))
    if len(parts) == 1 and parts[0] is entry and isinstance(entry, Tensor):
        return entry.data_ptr(), entry._version, checksum(entry)
    return tuple(part if isinstance(part, str) else checksum(part) for part in parts)


def parts_of(name: str, entry: object) -> Iterator[Tensor | str]:
    """What an entry of a state dict is made of: plain tensors, and words for what is none.

    An ordinary tensor is its only part. Quantised, sparse and wrapped ones are taken apart, which makes new tensors at
    each call. name: the entry's. Raises `ModelCannot` for a tensor on the meta device.
    """
    if isinstance(entry, Tensor):
        yield from _tensor_parts(name, entry)
    elif isinstance(entry, Mapping):
        for key, each in entry.items():
            yield str(key)
            yield from parts_of(name, each)
    elif isinstance(entry, tuple | list):
        for each in entry:
            yield from parts_of(name, each)
    else:
        yield repr(entry) if isinstance(entry, PLAIN) else type(entry).__name__


def _tensor_parts(name: str, tensor: Tensor) -> Iterator[Tensor | str]:
    if tensor.is_meta:
        raise ModelCannot(no_numbers(name))
    if hasattr(tensor, "__tensor_flatten__"):  # of torchao and its kin: tensors inside a tensor
        for inner in tensor.__tensor_flatten__()[0]:
            yield from parts_of(name, getattr(tensor, inner))
    elif tensor.is_quantized:
        yield tensor.int_repr()
        yield from _scales(tensor)
    elif tensor.layout is torch.sparse_coo:
        whole = tensor.detach().coalesce()
        yield from (whole.indices(), whole.values())
    elif tensor.layout is not torch.strided:
        yield tensor.detach().to_dense()
    else:
        yield tensor


def _scales(tensor: Tensor) -> Iterator[Tensor | str]:
    """By what the whole numbers of a quantised tensor are multiplied and moved."""
    if tensor.qscheme() in (torch.per_tensor_affine, torch.per_tensor_symmetric):
        yield repr((tensor.q_scale(), tensor.q_zero_point()))
    else:
        yield from (tensor.q_per_channel_scales(), tensor.q_per_channel_zero_points())


def no_numbers(name: str) -> str:
    """What is said of a weight on the meta device."""
    return (
        f"The weight {name} is on the meta device, where there are no numbers (a model that was not filled yet, or "
        f"whose weights wait on a disk); load the weights, and give the whole model in memory."
    )


# Models given in memory: one that cannot be followed or would be changed by being read is refused, and the message
# says what to do.

# Attributes under which wrappers keep the model that they wrap: of torch.compile, and of DataParallel and its kin.
WRAPPED = ("_orig_mod", "module")
UNSHOWN = "give what it was made from, or leave embedding= away and use methods that edit the text"
COMPILED = "_torchdynamo_orig_callable"  # the attribute of a function that torch.compile returned


def check_in_memory(network: nn.Module) -> None:
    """Raise `ModelCannot` for a wrapped model, one without a configuration, or one without a head."""
    check_of_library(network)
    name, inside = type(network).__name__, adapted_network(network)
    refuse_class(type(inside).__name__, f"The model ({name})")
    if getattr(inside, "base_model", None) is inside:
        raise ModelCannot(
            f"{name} is an encoder without a classification head; give a fine-tuned sequence classifier, or train one: "
            "pellucid.train(data, encoder=..., out=...) or pellucid train DATA --encoder FOLDER."
        )


def check_of_library(network: nn.Module) -> None:
    """Raise `ModelCannot` for a wrapped model, one that is none of the library's, or one that cannot be read as it
    is.
    """
    name = type(network).__name__
    for inside in WRAPPED:
        if isinstance(getattr(network, inside, None), nn.Module):
            raise ModelCannot(
                f"The model is wrapped in {name}, behind which its parts cannot be followed; give what is inside: "
                f"load(model.{inside}, tokenizer)."
            )
    if not hasattr(network, "config") or not hasattr(network, "get_input_embeddings"):
        raise ModelCannot(
            f"{name} is a torch network, but none of Hugging Face's; use pellucid.from_network(network, ...)."
        )
    check_uncompiled(network, name)
    check_numbers(network.named_modules(), name)
    _check_keywords(network, name)


def check_network(network: nn.Module, logits: object, embedding: nn.Module | None, layers: Sequence[nn.Module]) -> None:
    """Raise `BadInput` for what is no module, `ModelCannot` for a network that cannot be read as `from_network` would
    read it.

    logits: the user's function. Gradients and states, so an embedding and layers, need parts whose insides torch shows.
    """
    of_class("The network", network, nn.Module, "give a torch module")
    of_class("The embedding", embedding, nn.Module | NoneType, "give a torch module")
    parts = [("embedding", embedding)] if embedding is not None else []
    check_numbers(chain(network.named_modules(), parts), type(network).__name__)
    for part in (network, logits, embedding, *layers) if embedding is not None else ():
        if hasattr(part, COMPILED):
            raise ModelCannot(f"logits is compiled (torch.compile); {UNSHOWN}.")
        if isinstance(part, nn.Module):
            check_uncompiled(part, type(part).__name__)
        if isinstance(part, torch.jit.ScriptModule):
            raise ModelCannot(f"{type(part).__name__} is compiled (torch.jit); {UNSHOWN}.")


def check_uncompiled(network: nn.Module, name: str) -> None:
    """Raise `ModelCannot` where a module is compiled: its program may leave out what watches and exchanges its
    states.
    """
    for place, module in network.named_modules():
        compiles = (getattr(module, name, None) for name in ("_orig_mod", "_compiled_call_impl"))
        if any(each is not None for each in compiles) or hasattr(getattr(module, "forward", None), COMPILED):
            raise ModelCannot(
                f"{_at(name, place)} is compiled (torch.compile), behind which its parts cannot be followed; give the "
                f"model as it was before that."
            )


def check_numbers(modules: Iterable[tuple[str, nn.Module]], name: str) -> None:
    """Raise `ModelCannot` where a module has weights without numbers, or weights that are changed by being read.

    modules: with their names. name: what messages call the model.
    """
    for place, module in modules:
        where = _at(name, place)
        for weight, tensor in _tensors(module):
            if tensor.is_meta:
                raise ModelCannot(no_numbers(f"{where}.{weight}"))
        if _is_clipped(module):
            raise ModelCannot(
                f"{where} has max_norm, by which torch changes a table of vectors whenever it is read, and no "
                f"explanation may change your model; clip it once (weight.data.renorm_(norm_type, 0, max_norm)) and "
                f"set its max_norm to None."
            )


def _at(name: str, place: str) -> str:
    return f"{name}.{place}" if place else name


def _tensors(module: nn.Module) -> Iterator[tuple[str, Tensor]]:
    """A module's own weights and buffers that are there."""
    every = {**module._parameters, **module._buffers}
    return ((name, tensor) for name, tensor in every.items() if isinstance(tensor, Tensor))


def _is_clipped(module: nn.Module) -> bool:
    """Whether reading the module shortens a row of its weight: one that is longer than max_norm."""
    longest, weight, kind = (getattr(module, name, None) for name in ("max_norm", "weight", "norm_type"))
    if longest is None or kind is None or not isinstance(weight, Tensor):
        return False
    return bool((weight.detach().norm(kind, dim=1) > longest).any())


def _check_keywords(network: nn.Module, name: str) -> None:
    """Raise `ModelCannot` for a forward that takes no ids by their name."""
    parameters = inspect.signature(network.forward).parameters
    hands_on = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values())
    by_name = IDS in parameters and parameters[IDS].kind is not inspect.Parameter.POSITIONAL_ONLY
    if not by_name and not hands_on:
        raise ModelCannot(
            f"The forward of {name} takes {listed(list(parameters))} and no {IDS} by that name, as the library's "
            f"networks do; use pellucid.from_network(network, ...), whose function calls it in your own way."
        )


# Where a gradient is lost on its way from a network's answer to its words: in quantised layers, and under `no_grad`
# of the network's own.
#
# Where only some layers lose it, autograd goes around them and gives a gradient without a word of warning; it is that
# of another network. So each module is asked, while the network reads a short text with a graph, whether the graph
# leads from what it gave to all that it read.

# In the name of a node of torch that stands in the graph and gives no gradient, as of quantised products.
UNWRITTEN = "NotImplemented"


@contextmanager
def losses(network: nn.Module) -> Iterator[list[str]]:
    """Fill a list, while this thread runs the network with a graph, with the modules in which the gradient ends,
    innermost first.
    """
    lost: list[str] = []
    again: list[nn.Module] = []  # the module that is run once more, and its own modules with it

    def watch(place: str) -> Callable[..., Any]:
        def note(module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, object], output: object) -> None:
            gives = _numbers(output)
            if again or lost or not gives:
                return
            again.append(module)
            try:
                if any(_depends(module, args, kwargs, gives, tensor) for tensor in _unreached(args, kwargs, gives)):
                    lost.append(f"{place} ({type(module).__name__})" if place else type(module).__name__)
            finally:
                again.clear()

        return note

    with ExitStack() as stack:
        for place, module in network.named_modules():
            if not isinstance(module, torch.jit.ScriptModule):
                stack.callback(hook_output(module, watch(place), with_kwargs=True))
        yield lost


def _numbers(values: object) -> list[Tensor]:
    """All tensors of floating-point numbers in nested values."""
    return [each for each in tree_leaves(values) if isinstance(each, Tensor) and each.is_floating_point()]


def _unreached(args: tuple[Any, ...], kwargs: dict[str, object], gives: Sequence[Tensor]) -> list[Tensor]:
    """What a module read that a gradient should reach, and to which no way leads from what it gave."""
    reads = {get_gradient_edge(each).node: each for each in _numbers((args, kwargs)) if each.requires_grad}
    open_nodes: list[Node] = [get_gradient_edge(each).node for each in gives if each.requires_grad]
    seen = set(open_nodes)
    while open_nodes and reads:
        node = open_nodes.pop()
        reads.pop(node, None)
        if UNWRITTEN in node.name():
            continue
        following = {later for later, _ in node.next_functions if later is not None} - seen
        seen |= following
        open_nodes += following
    return list(reads.values())


def _depends(
    module: nn.Module, args: tuple[Any, ...], kwargs: dict[str, object], gives: Sequence[Tensor], read: Tensor
) -> bool:
    """Whether a module answers otherwise to other numbers in one of its inputs: of some it reads no more than the shape
    or the type.
    """

    def moved(value: object) -> object:
        if value is read:
            return read.detach().flip(-1) * 1.25  # a norm tells these apart too
        return value.detach() if isinstance(value, Tensor) else value

    with torch.no_grad():
        try:
            answers = _numbers(module.forward(*tree_map(moved, args), **tree_map(moved, kwargs)))
        except Exception:  # anything can happen in a module that is run by itself
            return True
    if len(answers) != len(gives):
        return True
    return not all(torch.equal(give, two) for give, two in zip(gives, answers, strict=True))
