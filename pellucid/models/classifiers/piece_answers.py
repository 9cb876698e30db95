"""Networks that answer for each piece of a text: taggers, readers of answers, and those that guess masked words.

A row says by its column `read` which pieces are asked about, and what the network says of these becomes one line of
logits. So a place in a text is explained, judged and drawn as a text with its class is.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Literal

import torch
from torch import Tensor, nn

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.models.classifiers.tokens import Tokenizer
from pellucid.run.batch import ANSWER_BITS, Row
from pellucid.run.target import Problem
from pellucid.text.example import Example
from pellucid.text.passages import PLACE, place_of
from pellucid.text.units import Units

Kind = Literal["tag", "answer", "word"]
KINDS: dict[str, Kind] = {
    "ForTokenClassification": "tag",
    "ForQuestionAnswering": "answer",
    "ForMaskedLM": "word",
}
# What is read at a piece: of tags the network's own, or those with B- and I- exchanged; of an answer its start, its
# end, and whether it can be part of an answer at all.
OWN, EXCHANGED = 1, 2
WEIGHT = 4  # code // WEIGHT: how often the piece counts in the mean over an entity's pieces
START, END, POSSIBLE = 1, 2, 4
ANSWERS = ("answer", "start", "end")
BEGIN, INSIDE = "B-", "I-"


def kind_of(name: str) -> Kind | None:
    """What networks of a class of this name are asked; None for those that answer for whole texts."""
    return next((kind for ending, kind in KINDS.items() if name.endswith(ending)), None)


@dataclass(frozen=True)
class PieceAnswers:
    """How the answers of a network for single pieces become one line of logits.

    kind: "tag", "answer" or "word". labels: what the logits are of. pipeline: the user's own, by which entities are
    joined; None: the library's.
    """

    kind: Kind
    labels: tuple[str, ...]
    pipeline: Any = None

    @property
    def problem(self) -> Problem:
        """How these logits become probabilities."""
        return "log_probability" if self.kind == "answer" else "single_label"

    @property
    def exchanged(self) -> list[int]:
        """For each tag the number of the one with B- for I-, or I- for B-, where there is one; else its own number."""
        number_of = {label: index for index, label in enumerate(self.labels)}
        return [number_of.get(self._twin(label), index) for index, label in enumerate(self.labels)]

    def _twin(self, label: str) -> str:
        """The same kind of entity at another place in it; plain names stand for I- where there is no I-."""
        begins, kind = label[:2] == BEGIN, label[2:] if label[:2] in (BEGIN, INSIDE) else label
        inside = INSIDE + kind
        if begins:
            return inside if inside in self.labels else kind
        return BEGIN + kind if label == inside or inside not in self.labels else label

    def logits(self, answer: Any, read: Tensor, attended: Tensor, name: str, of_row: Tensor | None = None) -> Tensor:
        """[row label], from what a forward returned for pieces.

        read: [row piece], attended: [text piece]; of a row that asks about no piece, as in trials, all attended ones
        are read. name: what messages call the model. of_row: [row], the text of each row; None: one text a row. Raises
        `ModelCannot` for an answer without logits.
        """
        return self.logits_of_parts(self.parts(answer, name), read, attended, of_row)

    def logits_of_parts(
        self, parts: Sequence[Tensor], read: Tensor, attended: Tensor, of_row: Tensor | None = None
    ) -> Tensor:
        """[row label], from what `parts` returns; the others are as in `logits`."""
        if of_row is not None:
            parts, attended = [part[of_row] for part in parts], attended[of_row]
        if self.kind == "answer":
            return span_logits(parts[0], parts[1], read, attended)
        exchanged = None if self.kind == "word" else torch.tensor(self.exchanged, device=read.device)
        return tag_logits(parts[0], read, attended, exchanged)

    def parts(self, answer: Any, name: str) -> list[Tensor]:
        """The logits in what a forward returned: [row piece label], or of starts and ends [row piece] each."""
        if self.kind != "answer":
            return [logits_in(answer, name)]
        names = ("start_logits", "end_logits")
        parts = [getattr(answer, part, None) for part in names]
        if any(not isinstance(part, Tensor) for part in parts):
            raise ModelCannot(f"{name} returned {type(answer).__name__} without {' and '.join(names)}.")
        return parts  # type: ignore[return-value]


# What the user's own call answered about a text while places were looked for in it: within one call of a door the guard
# compares with the same answer, and does not ask again.

MOST_ANSWERS = 256  # texts
_own_answers: ContextVar[dict[tuple[int, tuple[str, ...]], list[Tensor]] | None] = ContextVar("answers", default=None)


@contextmanager
def sharing_own_answers() -> Iterator[None]:
    """While active, this thread's answers that are stored for texts can be read."""
    token = _own_answers.set({})
    try:
        yield
    finally:
        _own_answers.reset(token)


def store_own_answer(network: nn.Module, segments: tuple[str, ...], parts: list[Tensor]) -> None:
    """Store what a network's own call answered about a text, as `PieceAnswers.parts` returns it."""
    answers = _own_answers.get()
    if answers is not None and len(answers) < MOST_ANSWERS:
        answers[id(network), segments] = parts


def own_answer(network: nn.Module, segments: tuple[str, ...]) -> list[Tensor] | None:
    """What was stored for a text; None where nothing was."""
    return (_own_answers.get() or {}).get((id(network), segments))


def logits_in(answer: Any, name: str) -> Tensor:  # Any: whatever a forward returns
    """The logits in what a network returned: by that name, as the first of several outputs, or alone; raises
    `ModelCannot` where there are none.
    """
    if isinstance(answer, Mapping):
        logits = answer.get("logits")
    elif isinstance(answer, tuple | list) and answer:  # config.return_dict=False
        logits = answer[0]
    else:
        logits = getattr(answer, "logits", answer)
    if not isinstance(logits, Tensor) or not logits.is_floating_point():
        raise ModelCannot(
            f"{name} returned {type(answer).__name__} without logits; its forward must return a tensor of them [text "
            f"class], alone, as the first of several outputs or by the name logits."
        )
    return logits


def check_shape(logits: Tensor, columns: Mapping[str, Tensor], labels: Sequence[str], name: str) -> None:
    """Raise `ModelCannot` for logits of one text, by these columns, that are not [text piece label]."""
    expected = (*columns["input_ids"].shape, len(labels))
    if tuple(logits.shape) != expected:
        raise ModelCannot(
            f"{name} gives logits of shape {tuple(logits.shape)} for a text of {expected[1]} pieces, and its config "
            f"names {expected[2]} classes; what tags pieces gives {expected}: for each piece a number for each class "
            f"of id2label."
        )


def tag_logits(logits: Tensor, read: Tensor, attended: Tensor, exchanged: Tensor | None) -> Tensor:
    """[row piece label] -> [row label]: the network's own logits of one piece; of several the logarithm of their mean
    probability, as pipelines average the pieces of an entity, plus the mean of their normalisers.

    exchanged: [label], the labels in whose place EXCHANGED pieces are read.
    """
    codes = torch.where((read > 0).any(1, keepdim=True), read, OWN * attended.long())
    codes, order = codes.sort(dim=1, descending=True, stable=True)
    most = max(1, int((codes > 0).sum(1).max()))
    codes, order = codes[:, :most], order[:, :most]
    logits = logits.gather(1, order[..., None].expand(-1, -1, logits.shape[-1]))
    turned = (codes % WEIGHT == EXCHANGED)[..., None]
    if exchanged is not None and bool(turned.any()):
        logits = torch.where(turned, logits[..., exchanged], logits)
    if most == 1:
        return logits[:, 0]
    weights = torch.where(codes > 0, (codes // WEIGHT).clamp_min(1), 0).to(logits)
    shares = weights / weights.sum(1, keepdim=True).clamp_min(1)
    normalisers = logits.logsumexp(-1)
    chances = logits - normalisers[..., None] + shares.log()[..., None]
    return chances.logsumexp(1) + (normalisers * shares).sum(1, keepdim=True)


def span_logits(start: Tensor, end: Tensor, read: Tensor, attended: Tensor) -> Tensor:
    """[row piece], [row piece] -> [row 3]: the log-probabilities of the answer, of its start and of its end, in nats.

    Both are taken among the pieces that can be part of an answer, as pipelines do; the answer's is their sum.
    """
    possible = torch.where((read > 0).any(1, keepdim=True), read & POSSIBLE > 0, attended.bool())
    is_read = torch.where((read & ANSWER_BITS > 0).any(1, keepdim=True), read, possible.cumsum(1).eq(1) & possible)
    is_read = torch.where((read & ANSWER_BITS > 0).any(1, keepdim=True), is_read, is_read * (START | END))
    of_start = _at(start, possible, is_read & START > 0)
    of_end = _at(end, possible, is_read & END > 0)
    return torch.stack([of_start + of_end, of_start, of_end], -1)


def _at(logits: Tensor, possible: Tensor, is_read: Tensor) -> Tensor:
    """[row]: the log-probability of the piece that is asked about."""
    chances = logits.masked_fill(~possible, -torch.inf).log_softmax(-1)
    return chances.masked_fill(~is_read, 0.0).sum(-1)


# The words that a network guesses, as names of classes.

TARGETS = ("predicted", "gold")  # which mean something else where a target is named
BLANKS = str.maketrans({"Ġ": " ", "▁": " "})  # how byte-level pieces and SentencePiece write a blank


def word_labels(tokenizer: Tokenizer, count: int) -> tuple[str, ...]:
    """The names of a vocabulary's first ids, blanks before words as blanks; ids without a token are named by number."""
    tokens = {token_id: token for token, token_id in tokenizer.get_vocab().items()}
    plain = [tokens.get(token_id, f"<{token_id}>") for token_id in range(count)]
    readable = [token.translate(BLANKS) for token in plain]
    seen: dict[str, int] = {}
    for index, word in enumerate(readable):
        seen.setdefault(word, index)
    names = (
        word if seen[word] == index and word.isprintable() else plain[index] for index, word in enumerate(readable)
    )
    return tuple(f"the word {name}" if name in TARGETS else name for name in names)


# Which pieces of a row are read for the place that an example asks about.


def pieces_within(units: Units, segment: int, start: int, end: int) -> list[int]:
    """The pieces that stand, in part or whole, in these characters of a segment."""
    return [
        piece
        for piece, text in enumerate(units.segment)
        if text == segment and units.start[piece] < end and units.end[piece] > start
    ]


def row_with_place(row: Row, example: Example, max_length: int) -> Row:
    """The row with its column `read`, by the place that the example asks about; as it is where it asks about none.

    Raises `BadInput` for a text that is longer than the model reads at once, or has other pieces now.
    """
    if row.windows:
        raise BadInput(
            f"Example {quoted(example.id)} has {len(row):,} pieces, and the model reads {max_length:,} at once; give "
            f"the part of the text around what is asked about."
        )
    place = place_of(example)
    if place is None:
        return row
    codes = dict(place.pieces)
    if not codes or max(codes) >= len(row):
        raise BadInput(
            f"Example {quoted(example.id)} asks about pieces that its text does not have for this model; give the text "
            f"without meta[{PLACE!r}], and its places are looked for anew."
        )
    return replace(row, read=tuple(codes.get(piece, 0) for piece in range(len(row))))
