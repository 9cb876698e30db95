"""Running a network on rows: how rows become tensors, and what its output is."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from pellucid.base.checks import listed, quoted, reason
from pellucid.base.errors import BadSetting, ModelCannot, PellucidError
from pellucid.base.memory import index_on, is_memory_error, to_device
from pellucid.models.classifiers.hooks import head_at
from pellucid.models.classifiers.piece_answers import PieceAnswers, logits_in
from pellucid.models.families.encoder import one_end_a_row, with_row_ends
from pellucid.models.families.probes import end_id, parameter_names, without_cache
from pellucid.models.pooling.pooler import OwnWeights, PieceTensors
from pellucid.models.routing.trial import own_call
from pellucid.run.batch import POSITIONS, Row
from pellucid.run.trace import GateTrace, StateTrace
from pellucid.text.example import is_utf8

NO_PIECE = -1
# The columns of a row that networks read, and what padding has there.
FILLING = {
    "ids": NO_PIECE,
    "types": 0,
    "positions": 0,
    "word_index": NO_PIECE,
    "segments": NO_PIECE,
    "sentences": NO_PIECE,
    "content": NO_PIECE,
    "read": 0,
}


def collate(
    rows: Sequence[Row], *, pad: int, first_position: int, spread: bool, device: torch.device
) -> dict[str, Tensor]:
    """Columns [row position] by name: what networks of Hugging Face read, and word_index, segments, sentences, content.

    pad: the id that fills rows up. first_position: the position id of a row's first piece. spread: every piece stands
    at its own position, with unattended padding where pieces are absent; otherwise pieces stand close together and only
    their position ids have gaps.
    """
    distinct = list({id(row): row for row in rows}.values())
    columns = _columns(distinct, pad, first_position, spread, device)
    if len(distinct) == len(rows):
        return columns
    place_by_id = {id(row): place for place, row in enumerate(distinct)}  # the points of a path repeat one row
    places = index_on(device, [place_by_id[id(row)] for row in rows])
    return {name: column[places] for name, column in columns.items()}


def _columns(
    rows: Sequence[Row], pad: int, first_position: int, spread: bool, device: torch.device
) -> dict[str, Tensor]:
    """Of rows that are all different."""
    there = {name for columns in {row.columns for row in rows} for name in columns}
    names = tuple(name for name in FILLING if name in there)
    tables = [_table(row, names) for row in rows]
    lines = to_device(torch.from_numpy(_lines(tables, names, spread)), device)
    columns = {name: lines[..., index].contiguous() for index, name in enumerate(names)}
    ids = columns.pop("ids")
    is_piece = ids != NO_PIECE
    columns = {
        "input_ids": ids.where(is_piece, pad),
        "attention_mask": is_piece.long(),
        "token_type_ids": columns.pop("types"),
        "position_ids": columns.pop("positions") + first_position,
        **columns,
    }
    # A decoder that reads the text one position later sees the same tokens.
    columns["decoder_attention_mask"] = columns["attention_mask"].roll(1, 1)
    columns["decoder_attention_mask"][:, 0] = 1
    return columns


def _table(row: Row, names: tuple[str, ...]) -> np.ndarray:
    """[piece column] of these columns; a row that stands for an empty text has no sentences."""
    if row.columns == names:
        return row.table
    by_name = {name: row.table[:, index] for index, name in enumerate(row.columns)}
    return np.stack([by_name.get(name, np.full(len(row), FILLING[name])) for name in names], axis=1)


def _lines(tables: Sequence[np.ndarray], names: tuple[str, ...], spread: bool) -> np.ndarray:
    """[row position column]: the tables [piece column], padded on the right; spread: each piece at its own position."""
    lengths = np.array([len(table) for table in tables])
    pieces, row = np.concatenate(tables), np.repeat(np.arange(len(tables)), lengths)
    places = pieces[:, POSITIONS] if spread else np.arange(len(pieces)) - (lengths.cumsum() - lengths)[row]
    longest = int(places.max(initial=0)) + 1  # an empty text is padding
    lines = np.empty((len(tables), longest, len(names)), dtype=np.int64)
    lines[:] = [FILLING[name] for name in names]
    lines[row, places] = pieces
    return lines


def hidden(columns: Mapping[str, Tensor], pieces: Tensor) -> dict[str, Tensor]:
    """The columns of `collate` with these pieces [row position] unread, as absent pieces of spread rows are; ids
    stay.
    """
    unread = ("word_index", "segments", "sentences", "content")
    absent = {"attention_mask": 0, **{name: FILLING[name] for name in unread}}
    return {
        name: column.masked_fill(pieces, absent[name]) if name in absent else column for name, column in columns.items()
    }


def closed_up(states: Tensor, rows: Sequence[Row]) -> Tensor:
    """[row position width] of spread rows -> [row piece width], in the order of their pieces, padded on the right."""
    longest = max(max(map(len, rows)), 1)
    positions = [[*row.positions, *(0,) * (longest - len(row))] for row in rows]
    index = torch.tensor(positions, device=states.device)
    return states[torch.arange(len(rows), device=states.device)[:, None], index]


def row_with_gaps(length: int, vocabulary: int, last: int) -> Row:
    """A row of random ids of which about two fifths are absent, to try how a network reads gaps.

    last: the id that it ends with, which some networks read.
    """
    generator = torch.Generator().manual_seed(0)
    ids = [*torch.randint(0, vocabulary, (length,), generator=generator).tolist()[:-1], last]
    absent = torch.rand(length, generator=generator) < 0.4
    inner = length - 2
    words, segments = (-1, *range(inner), -1), (-1, *(0,) * inner, -1)
    whole = Row(tuple(ids), (0,) * length, tuple(range(length)), words, segments)
    return whole.keep([n for n in range(length) if n in (0, length - 1) or not absent[n]])


# The arguments of one call of a network.


@dataclass(frozen=True)
class Arguments:
    """What a network's forward takes: columns by name, or, of a composed network, a record of piece tensors.

    columns: [batch piece] each; empty for a composed network. gates: what a network that reads twice chose by its first
    reading. read: [row piece], which pieces a network that answers for each is asked about; None: all. of_row: [row],
    the number in the batch of each row's text, where several rows ask about one text; None: the same.
    """

    columns: dict[str, Tensor] = field(default_factory=dict)
    pieces: PieceTensors | None = None
    gates: GateTrace | None = None
    read: Tensor | None = None
    of_row: Tensor | None = None

    @property
    def ids(self) -> Tensor:
        """[batch piece]: the tokens' ids."""
        return self.columns["input_ids"] if self.pieces is None else self.pieces.input_ids

    def keywords(self) -> dict[str, Tensor | PieceTensors | GateTrace]:
        """As keyword arguments: `network(**arguments.keywords())`."""
        records = {"pieces": self.pieces, "gates": self.gates}
        return {**self.columns, **{name: record for name, record in records.items() if record is not None}}

    def window(self, pieces: Sequence[int]) -> "Arguments":
        """These pieces of the text alone; their positions count from the first one on."""
        if self.pieces is not None:
            return Arguments(pieces=self.pieces.window(pieces))
        columns = {name: column[:, list(pieces)] for name, column in self.columns.items()}
        if "position_ids" in columns:
            columns["position_ids"] = self.columns["position_ids"][:, : len(pieces)]
        return Arguments(columns)


# What a composed network returns: logits, and its pooler's own weights.


@dataclass(frozen=True, kw_only=True)
class Output(OwnWeights):
    """logits: [batch class]. states: what the encoder made of the word vectors; None where the network shows
    neither.
    """

    logits: Tensor
    states: StateTrace | None = None


# Class names: they come from files of strangers, stand on every page, and name a class that is to be explained.


def class_names(setting: str, labels: object) -> tuple[str, ...]:
    """The classes' names as strings; raises `BadSetting` for what is no list of names."""
    if isinstance(labels, str | bytes) or not isinstance(labels, Iterable):
        raise BadSetting(
            f"{setting}={quoted(labels)} is no list of names; give one name a class: ['negative', 'positive']."
        )
    try:
        return tuple(map(str, labels))
    except Exception as error:  # of a stranger's class
        raise BadSetting(f"The names in {setting} cannot be read ({type(error).__name__}); give strings.") from None


def check_labels(labels: Sequence[object]) -> None:
    """Raise `ModelCannot` for no class, for names that are no strings or cannot be written, or the same one twice."""
    for label in labels:
        if not isinstance(label, str) or not is_utf8(label):
            raise ModelCannot(
                f"A class is called {quoted(label)}; rename it, in the model's config.json, with plain characters."
            )
    if not labels or len(set(labels)) < len(labels):
        twice = sorted({label for label in labels if labels.count(label) > 1})  # type: ignore[type-var]
        problem = (f"Two classes share a name ({listed(twice)})") if twice else "The model has no class"  # type: ignore[arg-type]
        raise ModelCannot(f"{problem}; name every class in id2label of the model's config.json.")


# One run of a network on arguments: failures become one sentence, and every family can read batches.

Call = Callable[[nn.Module, Mapping[str, object]], object]
FAILURES = (RuntimeError, LookupError, ValueError, TypeError, ArithmeticError, AttributeError, AssertionError)


def run_network(
    network: nn.Module,
    arguments: Arguments,
    *,
    name: str,
    readers: Callable[[], Sequence[nn.Module]],
    under_policy: bool = False,
    call: Call = own_call,
    piece_answers: PieceAnswers | None = None,
) -> Output:
    """The network's own answer; raises `ModelCannot` where it fails.

    name: what messages call the model. readers: a function that returns the modules that look up ids; called only where
    a batch needs them. under_policy: whether backward rules change the pass. call: how the network is asked.
    piece_answers: how the answers of a network for single pieces are read.
    """
    with ExitStack() as stack:
        keywords: dict[str, object] = {**arguments.keywords()}
        if "input_ids" in arguments.columns:
            network, columns = _readable_batch(network, arguments.columns, readers, stack)
            keywords = {**columns, **without_cache(parameter_names(network))}
        read = arguments.read
        if piece_answers is not None and piece_answers.kind == "word" and read is not None:
            head: nn.Module | None = network.get_output_embeddings()  # type: ignore[operator]
            if head is not None:  # it has a number for each word of the vocabulary
                masks, read = _masks(read, arguments.of_row)
                stack.enter_context(head_at(head, masks))
        try:
            answer: Any = call(network, keywords)
        except FAILURES as error:
            if is_memory_error(error) or isinstance(error, PellucidError):
                raise
            raise ModelCannot(_failure(error, name, under_policy)) from error
    if piece_answers is not None:
        attended = arguments.columns.get("attention_mask", torch.ones_like(arguments.ids))
        read = torch.zeros_like(attended) if read is None else read
        attended = attended[:, : read.shape[1]]
        return Output(logits=piece_answers.logits(answer, read, attended, name, arguments.of_row))
    return answer if isinstance(answer, Output) else Output(logits=logits_in(answer, name))


def _masks(read: Tensor, of_row: Tensor | None) -> tuple[Tensor, Tensor]:
    """[text mask], the pieces that rows ask about, and [row mask], which of its text's each row asks about.

    read: [row piece]. of_row: [row], the text of each row; None: one text a row.
    """
    pieces = read.argmax(1)
    if of_row is None:
        return pieces[:, None], torch.ones_like(pieces[:, None])
    of_text = of_row[:, None] == torch.arange(int(of_row.max()) + 1, device=of_row.device)
    rank = (of_text.cumsum(0)[torch.arange(len(of_row), device=of_row.device), of_row]) - 1
    masks = pieces.new_zeros(of_text.shape[1], int(rank.max()) + 1)
    masks[of_row, rank] = pieces
    return masks, nn.functional.one_hot(rank, masks.shape[1])


def _readable_batch(
    network: nn.Module,
    columns: dict[str, Tensor],
    readers: Callable[[], Sequence[nn.Module]],
    stack: ExitStack,
) -> tuple[nn.Module, dict[str, Tensor]]:
    """A network of Hugging Face and its columns, changed so that every row is read as if it were alone."""
    network, columns = with_row_ends(network, columns)
    if len(columns["input_ids"]) > 1 and end_id(network.config) is not None:
        network, columns = stack.enter_context(one_end_a_row(network, columns, readers()))
    return network, columns


def _failure(error: Exception, name: str, under_policy: bool) -> str:
    if "inference tensors cannot be saved" in str(error).lower():
        return (
            f"{name} was made under torch.inference_mode, so no gradient goes through its weights; make or load it "
            f"outside of that, or choose a method that edits the text, such as occlusion."
        )
    if under_policy:
        return (
            f"The backward rules of relevance do not go through {name}: {reason(error)}. Methods without such "
            "rules work, integrated_gradients and occlusion among them."
        )
    return (
        f"{name} fails on a text: {reason(error)}. Its tokenizer, configuration and weights may not belong "
        "together, or it reads more than the ids of a text (boxes of a page, cells of a table, a language)."
    )
