"""Networks that read the state of a row's last end token (BART, T5), in batches whose rows hold several of them.

They take the last of the end tokens and refuse a batch whose rows hold different numbers of them, as pairs and single
texts do. So in a batch each row's last end token gets an id that nothing else in it has, in a shallow copy of the
network that takes this id for the end; the modules that look up ids still read the end token there.
"""

import copy
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from pellucid.core.passes.module_hooks import hook_input
from pellucid.models.families.probes import end_id, rows_of_table, with_config

NAMED = ("pad_token_id", "bos_token_id", "decoder_start_token_id")  # ids that such networks look for, too
Columns = dict[str, Tensor]


@contextmanager
def one_end_a_row(
    network: nn.Module, columns: Columns, readers: Sequence[nn.Module]
) -> Iterator[tuple[nn.Module, Columns]]:
    """The network and its columns [row piece], with one end token a row; readers: the modules that look up ids."""
    end, ids = end_id(network.config), columns["input_ids"]
    at_end = (ids == end) & columns["attention_mask"].bool()
    last = at_end & (at_end.flip(1).cumsum(1).flip(1) == 1)
    named = {getattr(network.config, name, None) for name in NAMED}
    known = {*ids.unique().tolist(), *named}
    free = next((number for number in range(rows_of_table(readers[0]) or 0) if number not in known), None)
    if free is None or not bool(last.any(1).all()):
        yield network, columns
        return
    config: Any = copy.copy(network.config)  # Any: torch's modules declare no configuration
    config.eos_token_id = free
    twin = with_config(network, config)

    def read_as_end(_: nn.Module, args: tuple) -> tuple:
        return (args[0].masked_fill(args[0] == free, end), *args[1:])

    with ExitStack() as stack:
        for module in readers:
            stack.callback(hook_input(module, read_as_end))
        yield twin, columns | {"input_ids": ids.masked_fill(last, free)}
