"""Models that read a text's pieces several times: beside each label's hypothesis (zero-shot), or each text of a pair by
itself (`bi_encoder.py`).

The pieces are one row of ours, whose word embeddings are looked up once. Each reading is a row of the user's own
network, with its own ids and positions; the output of its embedding module is exchanged for the vectors of our row.
"""

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import ClassVar, Protocol, cast

import numpy as np
import torch
from torch import Tensor, nn

from pellucid.base.checks import quoted
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.base.json_text import json_digest
from pellucid.base.packages import cached_property
from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.explanation import Prediction
from pellucid.run.batch import COLUMNS, POSITIONS, Batch, Row, SpecialIds
from pellucid.run.model import Packing, Parts
from pellucid.run.packing import scheduler_for
from pellucid.run.predicting import predictions
from pellucid.run.rounding import Rounding
from pellucid.run.target import Problem
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.text.example import Example, Texts
from pellucid.text.units import SPECIAL, Units

CONSTANT = -1  # the place of a piece that is none of our row's
TYPES, WORDS, SEGMENTS = (COLUMNS.index(name) for name in ("types", "word_index", "segments"))


@dataclass(frozen=True)
class ReadRow:
    """A row that the network reads, and for each of its pieces the place in our row, or CONSTANT."""

    row: Row
    places: tuple[int, ...]


class ReadingForm(Protocol):
    """What the readings of a text are, and what their answers mean together."""

    @property
    def compares_texts(self) -> bool:
        """Whether the answer says how alike two texts are."""
        ...

    def encode(self, example: Example) -> tuple[Row, Units]:
        """Our row of an example, and its units; raises `BadInput` for one that cannot be read."""
        ...

    def readings(self, row: Row) -> list[ReadRow]:
        """What the network reads of our row, edited or not: always so many readings, in one order."""
        ...

    def logits(self, answers: Tensor) -> Tensor:
        """[row reading answer] of the network -> [row logit]."""
        ...

    def plain(self, example: Example) -> Tensor:
        """[logit]: by the user's own call for each reading of the single text."""
        ...

    @property
    def settings(self) -> list[object]:
        """What the answers depend on besides the network, as JSON."""
        ...


@dataclass(frozen=True, eq=False, repr=False)
class SeveralReadings:
    """A network and the form of its readings as one model; implements `core.Model`.

    reader: the network with its tokenizer; its logits are what the form reads. name: what results call the model.
    """

    reader: Classifier
    form: ReadingForm
    labels: tuple[str, ...]
    problem: Problem
    name: str
    packings: dict[int, Packing] = field(default_factory=dict, init=False, repr=False)  # filled by trials
    roundings: dict[tuple[object, ...], Rounding] = field(default_factory=dict, init=False, repr=False)
    unpadded: ClassVar[Packing] = "equal"
    n_layers: ClassVar[int] = 0
    state_parts: ClassVar[Mapping[int, Parts]] = {}
    language_head: ClassVar[None] = None

    def __repr__(self) -> str:
        return f"<SeveralReadings {self.name}: {', '.join(self.labels)}>"

    @property
    def network(self) -> nn.Module:
        """The network that reads."""
        return cast(nn.Module, self.reader.network)

    @property
    def capabilities(self) -> frozenset[str]:
        """Gradients where the network gives any; its hidden states belong to readings and not to the text."""
        return self.reader.capabilities & {"gradient"}

    @property
    def compares_texts(self) -> bool:
        """Whether the answer says how alike two texts are: two blank ones are the most alike, a poor baseline."""
        return self.form.compares_texts

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return self.reader.device

    @property
    def hash(self) -> str:
        """A digest of the network, its tokenizer, the classes and the form."""
        return json_digest([self.reader.hash, self.labels, self.problem, self.form.settings])

    def blank_ids(self) -> dict[str, int | None]:
        """Ids of the pad and mask tokens."""
        return self.reader.blank_ids()

    def embed(self, ids: Tensor) -> Tensor:
        """The word embeddings of ids."""
        return self.reader.embed(ids)

    @property
    def vocabulary(self) -> Tensor:
        """[piece]: the ids that texts are made of, without special tokens."""
        return self.reader.vocabulary

    def predict(self, texts: Texts) -> list[Prediction]:
        """One prediction a text, in order, as explanations report it; see `pellucid.predict` for tables and files.

        texts: a string, a pair, an `Example`, or a list of them.
        """
        return predictions(self, texts)

    def encode(self, examples: Sequence[Example]) -> Batch:
        """Tokenise; nothing is cut, and a text that is longer than the network reads is a `BadInput`."""
        pairs = [self.form.encode(example) for example in examples]
        rows, units = tuple(row for row, _ in pairs), tuple(unit for _, unit in pairs)
        return Batch(tuple(examples), rows, units, SpecialIds(**self.blank_ids()))

    def trace(
        self,
        rows: Sequence[Row],
        want: Want = NOTHING,
        embeddings: Tensor | None = None,
        layer: int | None = None,
    ) -> Trace:
        """Run rows; embeddings [example unit width] replace the word embeddings of our rows in every reading."""
        readings = [self.form.readings(row) for row in rows]
        words = self._looked_up(rows) if embeddings is None else embeddings
        words = words.detach().requires_grad_() if want.gradients else words
        exchanged = words if want.gradients or embeddings is not None else None
        with torch.enable_grad() if want.gradients else nullcontext():
            answers = self._answers(readings, want, exchanged)
            with nullcontext() if want.under is None else want.under(self.network):
                logits = self.form.logits(answers.unflatten(0, (len(rows), -1)))
        return Trace(logits, words)

    def _looked_up(self, rows: Sequence[Row]) -> Tensor:
        """[row piece width]: the word embeddings of the rows' own ids."""
        return self.reader.embed(self._padded([row.ids for row in rows], self.reader.facts.padding))

    def _padded(self, lines: Sequence[Sequence[int]], filling: int) -> Tensor:
        longest = max(map(len, lines))
        full = [[*line, *(filling,) * (longest - len(line))] for line in lines]
        return torch.tensor(full, dtype=torch.long, device=self.device)

    def _answers(self, readings: Sequence[Sequence[ReadRow]], want: Want, words: Tensor | None) -> Tensor:
        """[row and reading, answer], row after row. words: what our rows' pieces are exchanged for; None: nothing.

        Readings share a pass as the network allows. Under backward rules all share one, since these count its rows.
        """
        flat = [(owner, reading) for owner, of_row in enumerate(readings) for reading in of_row]
        every = list(range(len(flat)))
        packs = [every] if want.under else scheduler_for(self.reader).packs_of([reading.row for _, reading in flat])
        inner = Want(under=want.under, wide_head=want.wide_head, eager=want.eager or want.gradients)
        answers: dict[int, Tensor] = {}
        for pack in packs:
            some = [flat[index] for index in pack]
            vectors = None if words is None else self._vectors(words, some)
            trace = self.reader.trace([reading.row for _, reading in some], inner, vectors)
            answers |= dict(zip(pack, trace.logits, strict=True))
        return torch.stack([answers[index] for index in every])

    def _vectors(self, words: Tensor, readings: Sequence[tuple[int, ReadRow]]) -> Tensor:
        """[reading piece width]: the vectors of our rows at their places, and the network's own elsewhere."""
        owners = torch.tensor([owner for owner, _ in readings], device=words.device)[:, None]
        places = self._padded([reading.places for _, reading in readings], CONSTANT)
        ids = self._padded([reading.row.ids for _, reading in readings], self.reader.facts.padding)
        return torch.where(
            (places != CONSTANT)[..., None], words[owners, places.clamp_min(0)], self.reader.embed(ids).to(words)
        )

    def plain_logits(self, example: Example) -> Tensor:
        """[logit]: by the user's own calls for the single text."""
        return self.form.plain(example)

    def plain_window_logits(self, example: Example, windows: Sequence[Sequence[int]]) -> Tensor:
        """Raises `ModelCannot`: a text is read at once, or refused."""
        raise ModelCannot(f"{self.name} reads a text at once.")


# A hypothesis for each label: the text stands first in each row, and what follows is the label's own.


@dataclass(frozen=True, eq=False)
class Hypotheses:
    """A reading [text, hypothesis] for each label, of which the entailment is read.

    hypotheses: one a label. entailment: the number of that class. contradiction: of the class that it is held against,
    each label by itself; None: labels exclude one another, and their entailments are compared.
    """

    reader: Classifier
    hypotheses: tuple[str, ...]
    entailment: int
    contradiction: int | None
    compares_texts: ClassVar[bool] = False

    @property
    def settings(self) -> list[object]:
        """The hypotheses and the two classes."""
        return [self.hypotheses, self.entailment, self.contradiction]

    @cached_property
    def trials(self) -> tuple[Row, ...]:
        """For each label the row of a short text with its hypothesis."""
        return self.reader.encode([Example(("a", each)) for each in self.hypotheses]).rows

    @cached_property
    def tails(self) -> list[np.ndarray]:
        """For each label the table [piece column] of its hypothesis' pieces."""
        return [row.table[row.table[:, SEGMENTS] == 1] for row in self.trials]

    @cached_property
    def n_after(self) -> int:
        """How many special tokens stand after a hypothesis."""
        return self.trials[0].segments[::-1].index(1)

    def encode(self, example: Example) -> tuple[Row, Units]:
        """The pieces of the text and the special tokens of a pair."""
        if len(example.segments) != 1:
            raise BadInput(
                f"Example {quoted(example.id)} is a pair; the labels' hypotheses are the second texts here, so give "
                f"single texts."
            )
        batch = self.reader.encode([Example((example.text, self.hypotheses[0]), id=example.id)])
        pieces = [piece for piece, segment in enumerate(batch.rows[0].segments) if segment != 1]
        room = self.reader.max_length - max(map(len, self.tails))
        if len(pieces) > room:
            raise BadInput(
                f"Example {quoted(example.id)} has {len(pieces)} pieces, and beside its hypotheses the model reads "
                f"{room}; a pipeline would cut the rest off. Give a shorter text, or its parts."
            )
        table = batch.rows[0].table[pieces]
        table[:, POSITIONS] = np.arange(len(pieces))
        return Row.of_table(table, batch.rows[0]), batch.units[0].take(pieces)

    def readings(self, row: Row) -> list[ReadRow]:
        """The row with each label's hypothesis before its last special tokens."""
        n_last = self.n_after if set(row.segments[len(row) - self.n_after :]) <= {SPECIAL} else 0
        cut = len(row) - n_last
        table = row.table[:, : self.tails[0].shape[1]]  # without what only our rows have
        start = int(table[cut - 1, POSITIONS]) + 1 if cut else 0
        places = range(len(row))
        readings = []
        for tail in self.tails:
            inner, last = tail.copy(), table[cut:].copy()
            inner[:, POSITIONS] = start + np.arange(len(tail))
            inner[:, WORDS] += 1 + table[:, WORDS].max(initial=SPECIAL) - tail[:, WORDS].min()
            last[:, POSITIONS] += len(tail)
            whole = np.concatenate([table[:cut], inner, last])
            index = (*places[:cut], *(CONSTANT,) * len(tail), *places[cut:])
            readings.append(ReadRow(Row.of_table(whole, self.trials[0]), index))
        return readings

    def logits(self, answers: Tensor) -> Tensor:
        """[row label class] -> [row label]: the entailment, less the contradiction where labels stand alone."""
        entailments = answers[..., self.entailment]
        return entailments if self.contradiction is None else entailments - answers[..., self.contradiction]

    def plain(self, example: Example) -> Tensor:
        """[label]: by the tokenizer's and the network's own call for each pair."""
        pairs = [Example((example.text, each), id=example.id) for each in self.hypotheses]
        return self.logits(torch.stack([self.reader.plain_logits(pair) for pair in pairs])[None])[0]
