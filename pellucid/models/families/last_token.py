"""Networks that read the last token (decoders with a classification head), in batches and without a padding token.

They look for the last token that is not `config.pad_token_id`. Where the configuration names none, they read the last
token of a single text, and refuse batches.
"""

import copy
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

from torch import Tensor, nn

from pellucid.models.families.probes import (
    end_id,
    first_named,
    named_embedding,
    rows_of_table,
    with_config,
    with_value,
)
from pellucid.run.batch import Row
from pellucid.run.module_hooks import hook_input
from pellucid.text.units import SPECIAL

Columns = dict[str, Tensor]


def padding_id(network: nn.Module) -> int | None:
    """The id that the network itself treats as padding, if its configuration names one and the vocabulary has it."""
    named = first_named(network.config, "pad_token_id")
    return named if named is not None and 0 <= named < _vocabulary(network) else None


def _vocabulary(network: nn.Module) -> int:
    count = rows_of_table(named_embedding(network))
    return int(first_named(network.config, "vocab_size") or 0) if count is None else count


def with_row_ends(network: nn.Module, columns: Columns) -> tuple[nn.Module, Columns]:
    """A network that knows padding from text in these columns [row position], and the columns with its padding.

    It is a shallow copy of the network with a configuration of its own, which names a padding id that ends no row. The
    network and its configuration, which others may share or run at the same time, stay as they are.
    """
    ids = columns["input_ids"]
    if len(ids) == 1 or "attention_mask" not in columns or padding_id(network) is not None:
        return network, columns
    attended = columns["attention_mask"].bool()
    positions = attended.new_ones(attended.shape).cumsum(1)
    ends = set(ids.gather(1, (positions * attended).argmax(1, keepdim=True))[:, 0].tolist())
    free = next((number for number in range(_vocabulary(network)) if number not in ends), None)
    twin = with_config(network, with_value(network.config, "pad_token_id", free))
    return twin, columns | {"input_ids": ids if free is None else ids.where(attended, free)}


def empty_row(stand_in: int) -> Row:
    """The row of a text whose tokens are all absent: one token that stands for nothing."""
    return Row((stand_in,), (0,), (0,), (SPECIAL,), (SPECIAL,))


# Networks that read the state of a row's last end token (BART, T5), in batches whose rows hold several of
# them.
#
# They take the last of the end tokens and refuse a batch whose rows hold different numbers of them, as
# pairs and single texts do. So in a batch each row's last end token gets an id that nothing else in it
# has, in a shallow copy of the network that takes this id for the end; the modules that look up ids still
# read the end token there.


NAMED = ("pad_token_id", "bos_token_id", "decoder_start_token_id")  # ids that such networks look for, too


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
