"""TextAnswers with their explanations, each text by itself: what it costs is what the method read."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from pellucid.attacks.shared.answers import Question, Reply
from pellucid.attacks.shared.attack_case import Place
from pellucid.attacks.shared.places import moved_places, scores_at, words_of
from pellucid.core.corpus.rank_agreement import highest, tau_b, top_overlap
from pellucid.core.explaining.explaining import Request, explain_batch
from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.progress import silent
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.row_counter import RowCounter, TooManyRows
from pellucid.core.passes.target import Target
from pellucid.core.results.attempt import ExplanationShift
from pellucid.core.results.prediction import Prediction
from pellucid.core.text.example import Example


@dataclass(frozen=True)
class ExplainedAnswers:
    """A row is the probabilities and then, for each word of the original text, the score of what stands for it now; nan where nothing does.

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
            (one, other, before, after)
            for one, other, before, after in zip(
                words, moved, start[n_classes:], row[n_classes:], strict=True
            )
            if other is not None and np.isfinite(before) and np.isfinite(after)
        ]
        before, after = np.array([pair[2] for pair in pairs]), np.array([pair[3] for pair in pairs])
        tau, overlap = tau_b(before, after), top_overlap(before, after, self.k)
        return ExplanationShift(
            math.nan if math.isnan(tau) else tau,
            math.nan if math.isnan(overlap) else overlap,
            tuple(pairs[number][0].text for number in highest(before, self.k)),
            tuple(pairs[number][1].text for number in highest(after, self.k)),
        )

    def _reply(self, question: Question) -> Reply:
        places = moved_places(words_of(question.case.example), question.edits)
        return self._explained(question.example, question.case.answer.label, places, question.most)

    def _explained(
        self, example: Example, label: str, places: Sequence[Place | None], most: int | None
    ) -> Reply:
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
