"""Bi-encoders: the similarity of two texts, each read by itself, as a model of pairs."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType
from typing import Any, ClassVar, Literal, cast, get_args

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F

from pellucid.base.checks import listed, of_class, one_of, quoted
from pellucid.base.errors import BadFile, BadInput, BadSetting, ModelCannot
from pellucid.base.json_text import parsed
from pellucid.models.classifiers.buffer_copies import reading
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.hugging_face import load_encoder, minilm_source
from pellucid.models.classifiers.in_memory import check_of_library
from pellucid.models.classifiers.several_readings import SEGMENTS, TYPES, WORDS, ReadRow, SeveralReadings
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.models.families.probes import parameter_names
from pellucid.models.folders.configuration import read_object
from pellucid.run.batch import COLUMNS, POSITIONS, Row
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL, Reading, Units

PLAIN = Row((0,), (0,), (0,), (SPECIAL,), (SPECIAL,))  # a row with no further columns

Similarity = Literal["cosine", "dot"]
Pooling = Literal["mean", "cls", "max", "last"]


@dataclass(frozen=True, eq=False)
class TwoTexts:
    """A reading of each text of a pair, and the cosine or dot product of the two vectors.

    reader: gives the vectors. call: the user's own call, a text -> its vector [width]; None: the tokenizer's and the
    network's.
    """

    reader: Classifier
    function: Similarity
    call: Callable[[str], Tensor] | None = None
    compares_texts: ClassVar[bool] = True

    @property
    def settings(self) -> list[object]:
        """The function."""
        return [self.function]

    def encode(self, example: Example) -> tuple[Row, Units]:
        """The pieces of the first text, then those of the second; token types say which of the two they belong to."""
        if len(example.segments) != 2:
            raise BadInput(
                f"Example {quoted(example.id)} is a single text, and a similarity is of two; give pairs: (first, "
                f"second)."
            )
        batch = self.reader.encode([Example((text,), id=example.id) for text in example.segments])
        if long := [row for row in batch.rows if row.windows]:
            raise BadInput(
                f"Example {quoted(example.id)} has a text of {len(long[0])} pieces, and the encoder reads "
                f"{self.reader.max_length}; give a shorter one, or its parts."
            )
        tables = [row.table.copy() for row in batch.rows]
        for side, table in enumerate(tables):
            table[:, TYPES] = 2 * table[:, TYPES] + side
            table[:, SEGMENTS] += side * (table[:, SEGMENTS] != SPECIAL)
        tables[1][:, POSITIONS] += len(tables[0])
        tables[1][:, WORDS] += (1 + tables[0][:, WORDS].max()) * (tables[1][:, WORDS] != SPECIAL)
        return Row.of_table(np.concatenate(tables), batch.rows[0]), _joined(*batch.units)

    def readings(self, row: Row) -> list[ReadRow]:
        """The pieces of each text, as in a row of its own."""
        readings = []
        for side in range(2):
            places = np.flatnonzero(row.table[:, TYPES] % 2 == side)
            table = row.table[places, : len(COLUMNS)]
            table[:, TYPES] //= 2
            table[:, SEGMENTS] -= side * (table[:, SEGMENTS] != SPECIAL)
            table[:, POSITIONS] -= table[0, POSITIONS] if len(table) else 0
            readings.append(ReadRow(Row.of_table(table, PLAIN), tuple(places.tolist())))
        return readings

    def vectors(self, answers: Tensor) -> Tensor:
        """[... width]: the vectors whose dot product is the similarity."""
        return F.normalize(answers, dim=-1) if self.function == "cosine" else answers

    def logits(self, answers: Tensor) -> Tensor:
        """[row text width] -> [row 1]."""
        first, second = self.vectors(answers).unbind(1)
        return (first * second).sum(-1, keepdim=True)

    def plain(self, example: Example) -> Tensor:
        """[1]: by the user's own call for each text."""
        call = self.call or (lambda text: self.reader.plain_logits(Example((text,), id=example.id)))
        with reading(self.reader.network):  # some calls of users leave a network in evaluation mode
            return self.logits(torch.stack([call(text) for text in example.segments])[None])[0]


def _joined(first: Units, second: Units) -> Units:
    """The units of both texts."""
    whole: tuple[Reading, ...] = ("whole",)
    readings = tuple(each for units in (first, second) for each in units.readings or whole * len(units))
    return Units(
        first.kind,
        first.labels + second.labels,
        first.segment + tuple(1 if segment != SPECIAL else SPECIAL for segment in second.segment),
        first.start + second.start,
        first.end + second.end,
        readings=readings if first.readings or second.readings else (),
    )


# Networks that give one vector a text.


class PooledEncoder(nn.Module):
    """An encoder of Hugging Face whose answer is one vector a text, pooled from its last states."""

    def __init__(self, encoder: Any, pooling: Pooling) -> None:  # Any: the library declares no configuration
        super().__init__()
        self.encoder, self.pooling, self.config = encoder, pooling, encoder.config
        self.read = parameter_names(encoder)

    def get_input_embeddings(self) -> nn.Module:
        """The encoder's."""
        return cast(nn.Module, self.encoder.get_input_embeddings())

    def forward(
        self,
        input_ids: Tensor,
        attention_mask: Tensor | None = None,
        token_type_ids: Tensor | None = None,
        position_ids: Tensor | None = None,
    ) -> Tensor:
        """[text width]."""
        mask = torch.ones_like(input_ids) if attention_mask is None else attention_mask
        columns = {"attention_mask": mask, "token_type_ids": token_type_ids, "position_ids": position_ids}
        columns = {name: column for name, column in columns.items() if column is not None and name in self.read}
        output = self.encoder(input_ids=input_ids, **columns)
        states = getattr(output, "last_hidden_state", output[0] if isinstance(output, tuple) else output)
        if not isinstance(states, Tensor) or states.shape[:2] != input_ids.shape:
            raise ModelCannot(
                f"{type(self.encoder).__name__} gives no states [text piece width] to pool; give an encoder, such as "
                f"AutoModel loads it."
            )
        return pooled(states, mask.bool(), self.pooling)


class Encoding(nn.Module):
    """A `SentenceTransformer` as a network whose answer is one vector a text, by its own modules.

    encoder: the transformer in it. width: the first numbers of a vector that its `encode` keeps; None: all.
    """

    def __init__(self, model: Any, encoder: Any, width: int | None) -> None:
        super().__init__()
        self.model, self.config, self.width = model, encoder.config, width
        self.embedding_of = encoder.get_input_embeddings

    def get_input_embeddings(self) -> nn.Module:
        """The transformer's."""
        return cast(nn.Module, self.embedding_of())

    def forward(
        self, input_ids: Tensor, attention_mask: Tensor | None = None, token_type_ids: Tensor | None = None
    ) -> Tensor:
        """[text width]."""
        features = {"input_ids": input_ids, "attention_mask": attention_mask, "token_type_ids": token_type_ids}
        output = self.model({name: column for name, column in features.items() if column is not None})
        vectors: Tensor = output["sentence_embedding"]
        return vectors[:, : self.width]


def pooled(states: Tensor, attended: Tensor, pooling: Pooling) -> Tensor:
    """[text piece width] states -> [text width]; attended: [text piece] bool."""
    if pooling == "cls":
        return states[:, 0]
    if pooling == "last":
        last = (attended.cumsum(1) * attended).argmax(1)
        return states[torch.arange(len(states), device=states.device), last]
    if pooling == "max":
        return states.masked_fill(~attended[..., None], -torch.inf).amax(1)
    weights = attended[..., None].to(states)
    return (states * weights).sum(1) / weights.sum(1).clamp_min(1e-9)


def similarity(
    encoder: nn.Module | str | Path,
    tokenizer: Any = None,
    *,
    pooling: Pooling = "mean",
    function: Similarity = "cosine",
    name: str | None = None,
) -> SeveralReadings:
    """A bi-encoder as a model of pairs, whose value is the similarity of the two texts' vectors.

    A `SentenceTransformer` needs none of this: every door reads it as it is.

    encoder: an encoder of Hugging Face in memory (`AutoModel`), or its folder or hub name.
    tokenizer: that of an encoder in memory; else not given.
    pooling: how the last hidden states become one vector: their "mean" over all pieces that are attended to, special
        ones too, their "max", the state of the first piece ("cls") or of the "last" one.
    function: "cosine", from -1 to 1, or "dot". Reimers & Gurevych (2019), "Sentence-BERT", section 3.
    name: what results call the model; None: the encoder's own name.

    Returns the model. Raises `BadInput` for an encoder in memory without its tokenizer, `BadSetting` for another
    function, or another pooling than a folder of sentence-transformers has, `ModelCannot` for a network that gives no
    states, or a folder with more modules.

    >>> model = pellucid.similarity("minilm")
    >>> results = pellucid.explain(model, [("A man plays a guitar.", "Someone makes music on a guitar.")])
    >>> results[0].top(1)[0].text
    'guitar'
    """
    one_of("pooling", pooling, get_args(Pooling))
    one_of("function", function, get_args(Similarity))
    of_class("The name", name, str | NoneType, "give a string")
    network: Any = encoder
    if not isinstance(encoder, nn.Module):
        network, tokenizer = load_encoder(encoder)
        _check_modules(Path(minilm_source() if encoder == "minilm" else encoder), pooling, function)
    if tokenizer is None:
        raise BadInput(
            "An encoder in memory came without its tokenizer; write pellucid.similarity(encoder, tokenizer)."
        )
    check_of_library(network)
    title = name or (network.config.name_or_path if isinstance(encoder, nn.Module) else str(encoder))
    return of_encoder(PooledEncoder(network, pooling), tokenizer, function, title or type(network).__name__)


MODES = {"cls": "cls", "lasttoken": "last", "max": "max", "mean": "mean"}  # of sentence-transformers -> of ours
FOLLOWED = {"Transformer", "Pooling", "Normalize"}


def _check_modules(folder: Path, pooling: Pooling, function: Similarity) -> None:
    """Raise `BadSetting` where a folder of sentence-transformers pools otherwise, `ModelCannot` where it has more
    modules.
    """
    instead = "or load it as a SentenceTransformer and explain that object"
    kinds = _module_kinds(folder / "modules.json")
    if more := sorted(kinds - FOLLOWED):
        raise ModelCannot(f"The folder {quoted(str(folder))} has other modules too ({listed(more)}); {instead[3:]}.")
    if "Normalize" in kinds and function == "dot":
        raise BadSetting(f"The vectors of {quoted(str(folder))} have the length 1; give function='cosine', {instead}.")
    for path in folder.glob("[0-9]*_Pooling/config.json"):
        modes = _pooling_modes(read_object(path))
        if modes != [pooling]:
            raise BadSetting(
                f"pooling={pooling!r}, but the folder {quoted(str(folder))} pools by {listed(modes) or 'nothing'}; "
                f"give that, {instead}."
            )


def _module_kinds(path: Path) -> set[str]:
    """The classes of the modules that a folder of sentence-transformers names; none where it has no such file."""
    if not path.is_file():
        return set()
    try:
        return {str(entry["type"]).rpartition(".")[2] for entry in parsed(path.read_text(encoding="utf-8"))}
    except (ValueError, LookupError, TypeError):
        raise BadFile(f"{path} is no list of modules; save the model anew with its own save.") from None


def _pooling_modes(values: Mapping[str, Any]) -> list[str]:
    """The modes in a configuration of old or new sentence-transformers, by our names where there is one."""
    old = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max"}
    flags = [name.removeprefix("pooling_mode_") for name, value in values.items() if value is True]
    modes = values.get("pooling_mode") or [old.get(name, name) for name in flags if f"pooling_mode_{name}" in values]
    return [MODES.get(str(mode), str(mode)) for mode in ([modes] if isinstance(modes, str) else modes)]


def of_encoder(
    network: nn.Module,
    tokenizer: Tokenizer,
    function: Similarity,
    name: str,
    call: Callable[[str], Tensor] | None = None,
    max_length: int | None = None,
) -> SeveralReadings:
    """A model of pairs from a network that gives one vector a text; raises `ModelCannot` for a tokenizer without
    offsets.
    """
    if not getattr(tokenizer, "is_fast", False):
        raise ModelCannot(
            f"{type(tokenizer).__name__} gives no character offsets; use the fast tokenizer of this model."
        )
    reader = Classifier(network, tokenizer, ("vector",), "regression", name, window=max_length)
    return SeveralReadings(reader, TwoTexts(reader, function, call), (f"{function} similarity",), "regression", name)
