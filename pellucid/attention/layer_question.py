"""What tests of attention ask of a transformer: the texts, the tests with settings, and whose weights stand in."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from pellucid.attention.attended_texts import AttendedTexts
from pellucid.attention.record import IN_LAYERS
from pellucid.attention.weighed_texts import FEWEST
from pellucid.base.catalogue import Call
from pellucid.base.checks import listed
from pellucid.base.errors import ModelCannot
from pellucid.base.packages import __version__, cached_property
from pellucid.run.batch import Row
from pellucid.run.blank import generator_for
from pellucid.run.diagnostics import route_record
from pellucid.run.model import Model
from pellucid.run.windows import rows_of
from pellucid.text.example import Example

PART = 8  # texts that are tested and written together: of each, a hundred passes and more
SETTABLE = frozenset({"attention", "gradient"})  # capabilities; a gradient shows which position the head reads


def check_layers(model: Model) -> None:
    """Raise `ModelCannot` for a model whose attention weights cannot be set, with the reason, or with several labels a
    text.
    """
    if not model.capabilities >= SETTABLE:
        raise ModelCannot(
            f"{model.name} has no weights that its answer is a sum by, as models trained with pooler='additive', 'dot' "
            f"or 'span' have, and no attention weights that can be set, since {_why_not(model)}; judge the methods "
            f"that explain it with compare."
        )
    if model.problem not in ("single_label", "one_logit"):
        raise ModelCannot(
            f"{model.name} can give a text several labels, or a number; tests of attention judge one answer a text. "
            f"Give a single-label model."
        )


def _why_not(model: Model) -> str:
    lacks = getattr(getattr(model, "structure", None), "lacks", {})
    if reasons := [lacks[name] for name in sorted(SETTABLE) if name in lacks]:
        return listed(reasons)
    joins = getattr(getattr(model, "network", None), "joins", False)
    return "it joins the windows of long texts, each with weights of its own" if joins else "it shows none"


@dataclass(frozen=True)
class TransformerQuestion:
    """As `AttentionQuestion`, of a transformer whose weights are set layer by layer."""

    model: Model
    examples: tuple[Example, ...]
    calls: tuple[Call, ...]
    seed: int = 0

    @property
    def n_parts(self) -> int:
        """How many parts the texts are cut into."""
        return -(-len(self.examples) // PART)

    @property
    def of_corpus(self) -> tuple[Call, ...]:
        """None: every test judges texts."""
        return ()

    def tested(self, part_index: int) -> list[dict[str, Any]]:
        """A record of each text of a part, in JSON's terms; it depends on no other text but the one whose weights stand
        in for its own.
        """
        texts = self.texts(part_index)
        values = {call.title: self._values(call, texts) for call in self.calls}
        classes = texts.own_answers.argmax(-1).tolist()
        n_words = [len(texts.batch.pieces_of(index, "word")) for index in range(len(texts))]
        return [
            {
                "id": example.id,
                "units": n_words[index],
                "values": {
                    title: _draws_of(lines, index) if n_words[index] >= FEWEST else {}
                    for title, lines in values.items()
                },
                "weighs": IN_LAYERS,
                "right": self.model.labels[classes[index]] == example.label
                if example.label in self.model.labels
                else None,
            }
            for index, example in enumerate(texts.batch.examples)
        ]

    def corpus_lines(self, call: Call) -> list[dict[str, Any]]:
        """Those of a test of the whole corpus, of which there is none here."""
        raise NotImplementedError(call.title)

    def facts(self) -> dict[str, object]:
        """Everything that the numbers depend on but the texts, in JSON's terms."""
        return {
            "version": __version__,
            "model": self.model.hash,
            **route_record(self.model),
            "tests": {call.title: {name: repr(value) for name, value in call.settings.items()} for call in self.calls},
            "seed": self.seed,
            "texts tested together": PART,
        }

    def texts(self, part_index: int) -> AttendedTexts:
        """One part, as tests read it."""
        examples = self.examples[part_index * PART : (part_index + 1) * PART]
        batch = self.model.encode(examples)
        methods = {call.entry.facts["method"] for call in self.calls} - {""}
        donors = [self._donor(row, whole.ids) for whole in batch.rows for row in rows_of(whole)]
        return AttendedTexts(self.model, batch, donors, self.seed, tuple(sorted(methods)))

    def _values(self, call: Call, texts: AttendedTexts) -> dict[str, Sequence[Sequence[float]]]:
        """Line -> [text draw]."""
        if call.entry.facts["needs"] == "layers":
            lines: Mapping[str, Tensor] = call(texts)
            return {name: values.tolist() for name, values in lines.items()}
        by_text = [texts.readings(index) for index in range(len(texts))]
        return {
            name: [torch.cat([call(reading) for reading in readings[name]]).tolist() for readings in by_text]
            for name in by_text[0]
        }

    # Whose weights stand in for a text's: a row of another text, drawn from those of the nearest length.

    @cached_property
    def _rows_by_length(self) -> dict[int, list[tuple[tuple[int, ...], int, int]]]:
        """Pieces -> (ids, number of the text, number of the window) of every row that the model reads at once."""
        by_length: dict[int, list[tuple[tuple[int, ...], int, int]]] = {}
        for first in range(0, len(self.examples), PART):
            rows = self.model.encode(self.examples[first : first + PART]).rows
            for text, whole in enumerate(rows, first):
                for window, row in enumerate(rows_of(whole)):
                    by_length.setdefault(len(row), []).append((whole.ids, text, window))
        return by_length

    def _donor(self, row: Row, ids: tuple[int, ...]) -> Row | None:
        """ids: of the whole text that the row is of. None where no text has other pieces."""
        for length in sorted(self._rows_by_length, key=lambda length: (abs(length - len(row)), length)):
            others = [place for place in self._rows_by_length[length] if place[0] != ids]
            if others:
                draw = torch.randint(len(others), (), generator=generator_for(row, "another text", self.seed))
                _, text, window = others[int(draw)]
                return rows_of(self.model.encode([self.examples[text]]).rows[0])[window]
        return None


def _draws_of(lines: Mapping[str, Sequence[Sequence[float]]], index: int) -> dict[str, list[float | None]]:
    """Line -> [draw] of one text, None for nan."""
    return {name: [None if value != value else value for value in by_text[index]] for name, by_text in lines.items()}
