"""Where a network's parts are: observed while it reads one short text, not looked up by the family's name.

A part that no module shows is a capability that the classifier lacks, with the reason. What has to be guessed by a name
stands in `probes.py`.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import torch
from torch import Tensor, nn

from pellucid.models.families.probes import bert_layers, block_input, layer_counts, named_embedding
from pellucid.run.module_hooks import hook_output

PARAMETRIZED = "parametrizations"  # the child by which torch computes a weight anew, such as weight_norm

Lookup = tuple[nn.Module, Tensor, Tensor]  # a module, the ids that it read, the vectors that it gave
Step = tuple[Tensor | None, Tensor | None]  # the states that a block read and left


@dataclass(frozen=True)
class Structure:
    """What a network is made of, as far as one text shows it.

    embedding: the module that turns ids into word embeddings. again: the module through which a decoder reads the same
    embeddings one position later. readers: all modules that read the text's ids. time_first: word embeddings are
    [piece row width]. blocks: the encoder's blocks, which ran n_layers times. first_position: the position id of the
    first token; n_positions: the size of its table, where there is one. lacks: capability -> why it is missing.
    """

    embedding: nn.Module | None
    again: nn.Module | None
    readers: tuple[nn.Module, ...]
    time_first: bool
    blocks: nn.ModuleList | None
    n_layers: int
    first_position: int
    n_positions: int | None
    lacks: dict[str, str]


@dataclass
class Observation:
    """What modules read and returned while a network ran: look-ups of ids, and states that pass through lists of
    blocks.
    """

    lookups: list[Lookup] = field(default_factory=list)
    steps: dict[nn.ModuleList, list[Step]] = field(default_factory=dict)


@contextmanager
def observed(network: nn.Module) -> Iterator[Observation]:
    """Fill an observation while this thread runs the network."""
    record = Observation()

    def lookup(module: nn.Module, args: tuple[Any, ...], output: object) -> None:
        ids, vectors = _tensor(args), _tensor(output)
        if ids is not None and vectors is not None and not ids.is_floating_point():
            record.lookups.append((module, ids, vectors))

    def step(blocks: nn.ModuleList) -> Callable[..., Any]:
        def keep(_: nn.Module, args: tuple[Any, ...], kwargs: dict[str, object], output: object) -> None:
            state = block_input(args, kwargs)
            state = state if isinstance(state, Tensor) else None
            record.steps.setdefault(blocks, []).append((state, _tensor(output)))

        return keep

    with ExitStack() as stack:
        for module in network.modules():
            if all(name == PARAMETRIZED for name, _ in module.named_children()):
                stack.callback(hook_output(module, lookup))
            if isinstance(module, nn.ModuleList):
                for member in module:
                    stack.callback(hook_output(member, step(module), with_kwargs=True))
        yield record


def _tensor(value: object) -> Tensor | None:
    """The first of several values, if it is a tensor."""
    first = value[0] if isinstance(value, tuple | list) and value else value
    return first if isinstance(first, Tensor) else None


def structure_of(network: nn.Module, record: Observation, ids: Tensor, attention: Sequence[Tensor]) -> Structure:
    """The structure behind an observation of one row of ids [1 piece], whose attention weights were recorded."""
    readers = [lookup for lookup in record.lookups if _begins_with(lookup[1], ids)]
    time_first = not readers
    if time_first:
        readers = [lookup for lookup in record.lookups if _begins_with(lookup[1].T, ids)]
    embedding, vectors = _embedding(network, readers, ids.shape[1])
    tables = getattr(embedding, "num_embeddings", None)
    echoes = [
        lookup
        for lookup in record.lookups
        if _follows(lookup[1], ids) and getattr(lookup[0], "num_embeddings", None) == tables
    ]
    again = [module for module, _, later in echoes if vectors is not None and _follows(later, vectors)]
    blocks, n_layers = _blocks(network, record, ids.shape[1])
    first, table = _positions(record, ids)
    lacks: dict[str, str] = {}
    if embedding is None:
        lacks["gradient"] = "no module turns the ids of a text into one vector a piece"
    elif len(again) < len(echoes):
        lacks["gradient"] = "its decoder reads the text again through word embeddings of its own"
    if blocks is None:
        lacks["hidden_states"] = "no list of blocks hands one vector a piece on, block by block"
    shapes = {tuple(weights.shape[-2:]) for weights in attention}
    if blocks is None or len(attention) != n_layers or shapes != {(ids.shape[1],) * 2}:
        lacks["attention"] = "its blocks do not compute one softmax over all pieces each"
    if not bert_layers(network):
        lacks["bert_layers"] = "its blocks are not made of BERT's parts"
    modules = tuple(dict.fromkeys(module for module, _, _ in [*readers, *echoes]))
    return Structure(
        embedding=embedding,
        again=again[0] if again else None,
        readers=modules,
        time_first=time_first,
        blocks=blocks,
        n_layers=n_layers,
        first_position=first,
        n_positions=table,
        lacks=lacks,
    )


def _begins_with(ids: Tensor, text: Tensor) -> bool:
    """Whether ids are the text's; a network may lengthen its rows."""
    return ids.ndim == 2 and torch.equal(ids[:, : text.shape[1]], text)


def _follows(later: Tensor, earlier: Tensor) -> bool:
    """Whether a row is another one moved by a position to the right."""
    return later.shape == earlier.shape and _equal(later[:, 1:], earlier[:, :-1]) and not _equal(later, earlier)


def _equal(first: Tensor, second: Tensor) -> bool:
    """Whether two tensors are equal, where nan equals nan: spoilt weights change no structure."""
    return first.shape == second.shape and bool(((first == second) | (first.isnan() & second.isnan())).all())


def _embedding(network: nn.Module, readers: Sequence[Lookup], length: int) -> tuple[nn.Module | None, Tensor | None]:
    """The module of word embeddings and what it gave: the one that the network names, else the first that reads ids."""
    fitting = {
        module: vectors
        for module, _, vectors in reversed(readers)
        if vectors.ndim == 3 and vectors.numel() // vectors.shape[-1] >= length
    }
    if not fitting:
        return None, None
    named = named_embedding(network)
    module = named if named in fitting else next(reversed(fitting))
    return module, fitting[module]


def _blocks(network: nn.Module, record: Observation, length: int) -> tuple[nn.ModuleList | None, int]:
    """The outermost list whose members hand states on, and how many times they ran; the encoder's, where there is a
    decoder.
    """
    return blocks_in(network, record, length, layer_counts(network.config)) or (None, 0)


def blocks_in(
    part: nn.Module, record: Observation, length: int, counts: Collection[int]
) -> tuple[nn.ModuleList, int] | None:
    """The outermost list of a part of a network whose members hand states [1 length width] on, and how many times they
    ran.

    counts: how many times they may run; empty: as often as they like.
    """
    lists = (module for module in part.modules() if isinstance(module, nn.ModuleList))
    for module in lists:
        steps = record.steps.get(module, [])
        if steps and (not counts or len(steps) in counts) and _handed_on(steps, length):
            return module, len(steps)
    return None


def _handed_on(steps: Sequence[Step], length: int) -> bool:
    """Whether each step leaves [1 piece width] and most steps read what the one before left."""
    states = [state for step in steps for state in step]
    shapes = {None if state is None or state.ndim != 3 else tuple(state.shape[:2]) for state in states}
    rows, pieces = (shapes.pop() or (0, 0)) if len(shapes) == 1 else (0, 0)
    if rows != 1 or pieces < length:
        return False
    links = [_equal(left, read) for (_, left), (read, _) in pairwise(steps)]  # type: ignore[arg-type]
    return 2 * sum(links) >= len(links)


def _positions(record: Observation, text: Tensor) -> tuple[int, int | None]:
    """The position id of a text's first token, and how many there are; (0, None) where no table of positions was
    read.
    """
    count = torch.arange(text.shape[1], device=text.device)
    for module, ids, _ in record.lookups:
        row = ids.reshape(-1)
        if row.shape == count.shape and torch.equal(row - row[0], count) and not torch.equal(row, text[0]):
            return int(row[0]), getattr(module, "num_embeddings", None)
    return 0, None
