"""How well a lens names the pieces of texts from each layer, with its translators and without."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from pellucid.base.checks import quoted
from pellucid.base.kinds import renderers
from pellucid.results.table import Interval

MOST_NATS = 1e6  # a larger divergence is no measurement


@dataclass(frozen=True)
class LayerRecovery:
    """One layer of a lens on its dev texts.

    layer: 0 is the first block's input. recovery: the share of pieces that the lens names first, with its interval over
    texts. kl: Kullback-Leibler divergence of what the lens says of this layer from what it says of the last one, in
    nats a piece. bare_recovery, bare_kl: the same without a translator; None where the layer's states are of another
    width than the head reads. translated: whether the lens translates this layer; else it reads it as it is.
    """

    layer: int
    recovery: Interval
    kl: float
    bare_recovery: Interval | None
    bare_kl: float | None
    translated: bool


@dataclass(frozen=True)
class LensTable:
    """The layers of a lens, first to last.

    layers: one a layer. n_rows: how many dev texts, or parts of long ones, were read. n_pieces: how many pieces they
    have.
    """

    layers: tuple[LayerRecovery, ...]
    n_rows: int
    n_pieces: int

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_lens_table").make(self)

    def record(self) -> dict[str, object]:
        """Everything as JSON can hold it."""
        return {
            "layers": [asdict(layer) for layer in self.layers],
            "n_rows": self.n_rows,
            "n_pieces": self.n_pieces,
        }

    def to_json(self) -> str:
        """Everything as a JSON text."""
        return json.dumps(self.record())


def read_lens_table(record: object, n_layers: int) -> LensTable:
    """The table in a record of unknown origin; raises `ValueError`, `TypeError` or `LookupError` for what is none."""
    values = _mapping(record)
    layers = values["layers"]
    if not isinstance(layers, Sequence) or len(layers) != n_layers + 1:
        raise ValueError(f"its table is not of {n_layers + 1} layers")
    table = LensTable(
        tuple(_layer(_mapping(layer), index) for index, layer in enumerate(layers)),
        _count(values["n_rows"]),
        _count(values["n_pieces"]),
    )
    if table.layers[-1].translated:
        raise ValueError("its table says that the last layer is translated to itself")
    return table


def _layer(record: Mapping[str, Any], layer: int) -> LayerRecovery:  # Any: values of every kind, checked here
    if record["layer"] != layer or type(record["translated"]) is not bool:
        raise ValueError(f"layer {layer} of its table is {quoted(record['layer'])}")
    bare, bare_kl = record["bare_recovery"], record["bare_kl"]
    return LayerRecovery(
        layer,
        _share(record["recovery"]),
        _number(record["kl"], MOST_NATS),
        None if bare is None else _share(bare),
        None if bare_kl is None else _number(bare_kl, MOST_NATS),
        record["translated"],
    )


def _share(record: object) -> Interval:
    values = _mapping(record)
    return Interval(*(_number(values[name], 1.0) for name in ("mean", "low", "high")))


def _number(value: object, most: float) -> float:
    """A number from 0 to `most`; a divergence may lie below 0 by rounding."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not -1e-3 <= value <= most:
        raise ValueError(f"{quoted(value)} stands in its table, where a number from 0 to {most:g} belongs")
    return float(value)


def _count(value: object) -> int:
    if type(value) is not int or not 1 <= value <= 10**12:
        raise ValueError(f"{quoted(value)} stands in its table, where a count belongs")
    return value


def _mapping(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"{quoted(value)} stands in its table, where names with values belong")
    return value
