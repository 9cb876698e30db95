"""TextAnswers with their explanations, each text by itself: what it costs is what the method read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch import Tensor

from pellucid.attacks.attack_case import ExplanationShift, Place
from pellucid.attacks.omission_scores import moved_places, scores_at, words_of
from pellucid.attacks.questions import Question, Reply
from pellucid.base.catalogue import Call
from pellucid.base.processes import silent
from pellucid.results.explanation import Prediction
from pellucid.results.side_by_side import highest, tau_b, top_overlap
from pellucid.run.batch import Row
from pellucid.run.explaining import Request, explain_batch
from pellucid.run.model import Model
from pellucid.run.packing import scheduler_for
from pellucid.run.target import Target
from pellucid.run.trace import NOTHING, Trace, Want
from pellucid.text.example import Example


@dataclass(frozen=True)
class ExplainedAnswers:
    """A row is the probabilities and then, for each word of the original text, the score of what stands for it now; nan
    where nothing does.

    method: what explains the class of the text as it was. k: how many top words are compared.
    """

    model: Model
    method: Call
    seed: int
    k: int
    at_once: int | None = 1

    def start(self, example: Example, label: str, most: int | None) -> Reply:
        """The row of a text as it is. most: queries that it may cost; None: any number."""
        return self._explained(example, label, words_of(example), most)

    def replies(self, questions: Sequence[Question]) -> list[Reply]:
        """One explanation each."""
        return [self._reply(question) for question in questions]

    def alone(self, question: Question, after: Prediction) -> np.ndarray | None:
        """Once more, in an explanation of its own that costs nothing."""
        return self._reply(Question(question.case, question.edits)).row

    def shift(self, question: Question) -> ExplanationShift | None:
        """Kendall's tau and the overlap of the top words that stand in both texts."""
        row, start = self._reply(Question(question.case, question.edits)).row, question.case.start
        assert row is not None and start is not None
        n_classes = len(question.case.answer.labels)
        words = words_of(question.case.example)
        moved = moved_places(words, question.edits)
        pairs = [
            (word, moved_place, before, after)
            for word, moved_place, before, after in zip(words, moved, start[n_classes:], row[n_classes:], strict=True)
            if moved_place is not None and np.isfinite(before) and np.isfinite(after)
        ]
        before, after = np.array([pair[2] for pair in pairs]), np.array([pair[3] for pair in pairs])
        tau, overlap = tau_b(before, after), top_overlap(before, after, self.k)
        return ExplanationShift(
            math.nan if math.isnan(tau) else tau,
            math.nan if math.isnan(overlap) else overlap,
            tuple(pairs[index][0].text for index in highest(before, self.k)),
            tuple(pairs[index][1].text for index in highest(after, self.k)),
        )

    def _reply(self, question: Question) -> Reply:
        places = moved_places(words_of(question.case.example), question.edits)
        return self._explained(question.example, question.case.answer.label, places, question.most)

    def _explained(self, example: Example, label: str, places: Sequence[Place | None], most: int | None) -> Reply:
        counter = RowCounter(self.model, most)
        target = Target(self.model.labels.index(label), "logit")
        request = Request(counter, [self.method], target, self.seed)
        try:
            # Packs are tried out on the model itself: a trial is no query, and its result is kept there.
            (explanations,) = explain_batch(
                request, self.model.encode([example]), scheduler_for(self.model), silent
            ).values()
        except TooManyRows:
            return Reply(None, counter.rows)
        shown = explanations[0].shown_row()
        standing = [place for place in places if place is not None]
        scores = np.full(len(places), np.nan)
        scores[[place is not None for place in places]] = scores_at(shown, standing)
        return Reply(np.concatenate([explanations[0].prediction.probabilities, scores]), counter.rows)


# A model that counts the different rows that it reads, and reads no more than it may.


class TooManyRows(Exception):
    """More rows are needed than may be read."""


class RowCounter:
    """rows: different rows so far, and all rows at points between texts. All else is the model's own.

    Whatever is read twice, as the guard does, counts once, so the count does not depend on how rows are packed.
    """

    def __init__(self, model: Model, most: int | None = None) -> None:
        """most: rows that may be read; None: any number. Beyond them `trace` raises `TooManyRows`."""
        self.model, self.most, self.rows = model, most, 0
        self._known: set[bytes] = set()

    def __getattr__(self, name: str) -> Any:  # whatever the model has
        return getattr(self.model, name)

    def trace(
        self,
        rows: Sequence[Row],
        want: Want = NOTHING,
        embeddings: Tensor | None = None,
        layer: int | None = None,
    ) -> Trace:
        """The model's own pass, counted."""
        fresh = {row.digest for row in rows} - self._known
        count = len(fresh) if embeddings is None else len(rows)
        if self.most is not None and self.rows + count > self.most:
            raise TooManyRows
        self.rows += count
        if embeddings is None:
            self._known |= fresh
        return self.model.trace(rows, want, embeddings, layer)

    def plain_logits(self, example: Example) -> Tensor:
        """The model's own answer: the guard's, to a text that a pass has counted."""
        return self.model.plain_logits(example)
