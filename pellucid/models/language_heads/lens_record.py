"""What lens.json says of a lens: sizes, digests, what it was trained on and how, and how well it names pieces."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pellucid.core.foundation.wording import quoted
from pellucid.core.passes.seeds import HIGHEST_SEED
from pellucid.core.results.lens_table import LensTable, read_lens_table

FORM = "pellucid-lens-1"
ENCODER, CLASSIFIER = "the encoder before fine-tuning", "the classifier"
MOST_WIDTH, MOST_TOKENS, MOST_LAYERS = 1 << 17, 1 << 24, 10_000  # of any model there is


@dataclass(frozen=True)
class LensRecord:
    """What a lens is of.

    model, model_hash: name and digest of the model whose states it reads. vocabulary: a digest of what ids mean. trained_on:
    ENCODER or CLASSIFIER. widths: numbers of a state of each layer, 0 to the last. vector_width, n_tokens: of the table of
    word vectors. recipe: every setting of the training. fingerprint: names model, texts and recipe. weights: a digest of all
    tensors. n_texts: how many texts it was trained on. table: how well it names pieces, on dev texts.
    """

    model: str
    model_hash: str
    vocabulary: str
    trained_on: str
    widths: tuple[int, ...]
    vector_width: int
    n_tokens: int
    recipe: Mapping[str, object]
    fingerprint: str
    weights: str
    n_texts: int
    table: LensTable

    @property
    def n_layers(self) -> int:
        """The number of the last layer; layer 0 is the first block's input."""
        return len(self.widths) - 1

    @property
    def translated(self) -> tuple[int, ...]:
        """The layers that have a translator."""
        return tuple(one.layer for one in self.table.layers if one.translated)

    def record(self) -> dict[str, object]:
        """Everything as JSON can hold it."""
        plain = {name: getattr(self, name) for name in self.__dataclass_fields__}
        return {"form": FORM, **plain, "widths": list(self.widths), "table": self.table.record()}


def read_lens_record(values: Mapping[str, Any]) -> LensRecord:  # Any: values of every kind, checked here
    """The record in a stranger's lens.json; raises `ValueError`, `TypeError` or `LookupError` for what is none."""
    if values.get("form") != FORM:
        raise ValueError("it is of another form")
    if values["trained_on"] not in (ENCODER, CLASSIFIER):
        raise ValueError(f"trained_on is {quoted(values['trained_on'])}")
    widths = values["widths"]
    if not isinstance(widths, list) or not 1 <= len(widths) <= MOST_LAYERS:
        raise ValueError(f"widths is {quoted(widths)}, which is no list of layers")
    words = {
        name: _word(name, values[name])
        for name in ("model", "model_hash", "vocabulary", "fingerprint", "weights")
    }
    return LensRecord(
        **words,
        trained_on=values["trained_on"],
        widths=tuple(_size("a width", width, MOST_WIDTH) for width in widths),
        vector_width=_size("vector_width", values["vector_width"], MOST_WIDTH),
        n_tokens=_size("n_tokens", values["n_tokens"], MOST_TOKENS),
        recipe=_numbers("recipe", values["recipe"]),
        n_texts=_size("n_texts", values["n_texts"], 10**12),
        table=read_lens_table(values["table"], len(widths) - 1),
    )


def _word(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name} is {quoted(value)}, not a word")
    return value


def _size(name: str, value: object, most: int) -> int:
    if type(value) is not int or not 1 <= value <= most:
        raise ValueError(f"{name} is {quoted(value)}, not a whole number from 1 to {most:,}")
    return value


def _numbers(name: str, value: object) -> Mapping[str, object]:
    """Names with finite numbers."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name} is {quoted(value)}, not names with values")
    for setting, number in value.items():
        if isinstance(number, bool) or not isinstance(number, int | float) or not abs(number) <= HIGHEST_SEED:
            raise ValueError(f"{setting} of its {name} is {quoted(number)}, not a number")
    return value
