"""A network of transformers, compiled by OpenVINO from its word embeddings to the first of its outputs: logits, or
states.
"""

import inspect
import threading
import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.modules import module as torch_modules

from pellucid.base.checks import reason
from pellucid.base.errors import ModelCannot
from pellucid.base.packages import install_command
from pellucid.base.torch_state import checksum, checksum_once
from pellucid.models.routing.last_block import LastBlock
from pellucid.run.module_hooks import is_watched

PACKAGE = "openvino"
READS = "inputs_embeds"  # what Hugging Face calls word embeddings that are given in place of ids
GLOBAL_HOOKS = ("_global_forward_hooks", "_global_forward_pre_hooks")

State = tuple[object, ...]
Columns = Mapping[str, Any]  # keywords of the network's forward: tensors, and settings such as use_cache


def lacks_openvino() -> str:
    """Why OpenVINO cannot compute here, in words; "" where it can."""
    return "" if find_spec(PACKAGE) else f"the package openvino is not installed ({install_command(PACKAGE)})"


class CompiledNetwork:
    """Passes of one network without a graph; the network is compiled again after any change of it.

    The lookup of word embeddings stays PyTorch's own, with the hooks on it. So does the whole pass where other modules
    have hooks or a forward of their own, or where the network is read under a graph: what these see or change must run.
    """

    def __init__(self, network: nn.Module, block: LastBlock | None = None) -> None:
        """Raises `ModelCannot` for a network that does not read word embeddings. block: compiled at its first position
        alone.
        """
        find: Any = getattr(network, "get_input_embeddings", None)
        parameters = inspect.signature(network.forward).parameters
        if find is None or READS not in parameters or not isinstance(find(), nn.Module):
            raise ModelCannot("OpenVINO computes networks of transformers that read word embeddings, and this is none")
        self._network, self._embedding, self.block = network, find(), block
        self._threads = torch.get_num_threads()  # torch counts other ones in threads that the user starts
        self._compiled: dict[tuple[object, ...], Any] = {}
        self._state: State = ()
        self._compiling = threading.Lock()

    def whole(self) -> "CompiledNetwork":
        """The same network with all positions of all blocks."""
        return CompiledNetwork(self._network)

    def answer(self, network: nn.Module, columns: Columns) -> object:
        """The answer of `network(**columns)`, or a tuple with the first of its tensors."""
        ids = columns.get("input_ids")
        if network is not self._network or ids is None or torch.is_grad_enabled() or self._is_watched():
            return network(**columns)
        tensors = {
            name: column for name, column in columns.items() if isinstance(column, Tensor) and name != "input_ids"
        }
        settings = {name: column for name, column in columns.items() if not isinstance(column, Tensor)}
        tensors = {READS: self._embedding(ids), **tensors}
        request = self._of(tensors, settings).create_infer_request()
        (first,) = request.infer([tensor.detach().contiguous().numpy() for tensor in tensors.values()]).values()
        return (torch.from_numpy(first.copy()),)

    def _of(self, tensors: Mapping[str, Tensor], settings: Columns) -> Any:
        """The compiled network that reads these columns."""
        key = (tuple(tensors), tuple(sorted(settings.items())))
        with self._compiling:
            if self._state_now(checksum_once) != self._state or key not in self._compiled:
                # A sum that was remembered may be older than the weights that are compiled now.
                state = self._state_now(checksum)
                if state != self._state:
                    self._compiled, self._state = {}, state
            if key not in self._compiled:
                self._compiled[key] = compiled(self._network, tensors, settings, self._threads, self.block)
            return self._compiled[key]

    def _state_now(self, sum_of: Callable[[Tensor], int]) -> State:
        """What changes when a weight, a buffer or a module is exchanged or changed in any way.

        A table of embeddings that no other module shares is not compiled.
        """
        modules = [module for module in self._network.modules() if module is not self._embedding]
        weights = [weight for each in modules for weight in (*each.parameters(False), *each.buffers(False))]
        if any(weight.dtype != torch.float32 for weight in weights if weight.is_floating_point()):
            raise ModelCannot("the openvino route computes weights of float32")
        return (*map(id, modules), *((weight.data_ptr(), sum_of(weight)) for weight in weights))

    def _is_watched(self) -> bool:
        """Whether somebody sees or changes what a module computes, the lookup of word embeddings apart."""
        if any(getattr(torch_modules, name) for name in GLOBAL_HOOKS):
            return True
        return any(
            is_watched(module) or "forward" in vars(module)
            for module in self._network.modules()
            if module is not self._embedding
        )


class _FromEmbeddings(nn.Module):
    """The network as a function of tensors in a fixed order."""

    def __init__(
        self, network: nn.Module, names: tuple[str, ...], settings: Columns, block: LastBlock | None = None
    ) -> None:
        super().__init__()
        self.network, self.names, self.settings, self.block = network, names, dict(settings), block

    def forward(self, *tensors: Tensor) -> Tensor:
        """The first output: [row class], or [row piece width] of an encoder."""
        with nullcontext() if self.block is None else self.block.at_first_position():
            first: Tensor = self.network(**dict(zip(self.names, tensors, strict=True)), **self.settings)[0]
        return first


def compiled(
    network: nn.Module,
    tensors: Mapping[str, Tensor],
    settings: Columns,
    threads: int,
    block: LastBlock | None = None,
) -> Any:
    """A network compiled for columns of these names, of any number of rows and pieces.

    settings: the other keywords of its forward. threads: how many compute a pass. block: one that is computed at its
    first position alone. Raises `ModelCannot` where OpenVINO
    cannot.
    """
    options = {
        "INFERENCE_PRECISION_HINT": "f32",  # else it rounds to bfloat16 where the processor can
        "INFERENCE_NUM_THREADS": threads,
        "NUM_STREAMS": 1,
        "ENABLE_CPU_PINNING": False,  # a thread bound to one core waits for whatever else runs there
    }
    try:
        with warnings.catch_warnings(), torch.no_grad():
            warnings.simplefilter("ignore")  # about branches in the network; the trial compares the answers
            function = _FromEmbeddings(network, tuple(tensors), settings, block)
            model = _converted(function, tuple(tensor.clone() for tensor in tensors.values()))
        if len(model.inputs) != len(tensors):
            raise ModelCannot(f"OpenVINO reads {len(model.inputs)} of {len(tensors)} columns")
        return import_module(PACKAGE).Core().compile_model(model, "CPU", options)
    except ModelCannot:
        raise
    except Exception as error:  # its own classes, and whatever tracing meets in a network
        raise ModelCannot(f"OpenVINO cannot compile {type(network).__name__}: {reason(error)}") from None


def _converted(function: nn.Module, inputs: tuple[Tensor, ...]) -> Any:
    """A function of tensors as OpenVINO's graph.

    The package's own `convert_model` would also report its use to the package's makers.
    """
    frontend: Any = import_module("openvino.frontend")
    decoder: Any = import_module("openvino.frontend.pytorch.ts_decoder")
    torch_frontend = frontend.FrontEndManager().load_by_framework("pytorch")
    graph = decoder.TorchScriptPythonDecoder(function.eval(), example_input=inputs)
    return torch_frontend.convert(torch_frontend.load(graph))
