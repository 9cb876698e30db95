"""Networks that read the last token (decoders with a classification head), in batches and without a padding token.

They look for the last token that is not `config.pad_token_id`. Where the configuration names none, they read the last
place of a single text, and refuse batches.
"""

import copy
from typing import Any

from torch import Tensor

from pellucid.core.passes.batch import Row
from pellucid.core.text.units import SPECIAL
from pellucid.models.families.structure import named_embedding
from pellucid.models.families.text_config import first_named, with_value

Columns = dict[str, Tensor]


def padding_id(network: Any) -> int | None:
    """The id that the network itself takes for padding, if its configuration names one of its vocabulary."""
    named = first_named(network.config, "pad_token_id")
    return named if named is not None and 0 <= named < _vocabulary(network) else None


def _vocabulary(network: Any) -> int:
    weight = getattr(named_embedding(network), "weight", None)
    return int(first_named(network.config, "vocab_size") or 0) if weight is None else weight.shape[0]


def told_where_rows_end(network: Any, columns: Columns) -> tuple[Any, Columns]:
    """A network that can tell padding from text in these columns [row place], and the columns with its padding.

    It shares everything with the network that came but the configuration, which names a padding id that ends no row;
    so neither the network nor its configuration, which others may share or run at the same time, is touched.
    """
    ids = columns["input_ids"]
    if len(ids) == 1 or "attention_mask" not in columns or padding_id(network) is not None:
        return network, columns
    attended = columns["attention_mask"].bool()
    places = attended.new_ones(attended.shape).cumsum(1)
    ends = set(ids.gather(1, (places * attended).argmax(1, keepdim=True))[:, 0].tolist())
    free = next((number for number in range(_vocabulary(network)) if number not in ends), None)
    twin = copy.copy(network)
    twin.config = with_value(network.config, "pad_token_id", free)
    return twin, columns | {"input_ids": ids if free is None else ids.where(attended, free)}


def emptied(stand_in: int) -> Row:
    """What is left of a text without any of its tokens: one token that stands for nothing."""
    return Row((stand_in,), (0,), (0,), (SPECIAL,), (SPECIAL,))
