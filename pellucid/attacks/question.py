"""What an attack is asked: the model, the plan, the goal and its limits; the attempts on some texts, and the facts that
decide them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from pellucid.attacks.attack_case import AttackCase, Attempt, Ending, Goal, Omission, Place, is_right
from pellucid.attacks.attack_steps import asks_omissions, method_of, parts_of
from pellucid.attacks.cases import (
    StoredSpans,
    answers_for,
    first_order_gains,
    masked_fillers,
    places_of,
    scores_of,
)
from pellucid.attacks.dictionaries import Dictionaries
from pellucid.attacks.explained_answers import ExplainedAnswers
from pellucid.attacks.named import AttackPlan
from pellucid.attacks.omission_scores import omissions_of, scores_at
from pellucid.attacks.questions import AttemptNames, ModelAnswers, TextAnswers, answer_row, attack_texts
from pellucid.base.catalogue import Call
from pellucid.base.json_text import json_digest
from pellucid.base.packages import __version__
from pellucid.results.explanation import Explanation, Prediction
from pellucid.run.diagnostics import route_record
from pellucid.run.model import Model
from pellucid.run.predicting import predictions
from pellucid.text.example import Example
from pellucid.text.ranges import TIES
from pellucid.text.reading import unread_in


@dataclass(frozen=True, eq=False)
class Beginning:
    """A text that will be attacked. start: [number], what the goal reads of it. cost: the queries that reading it
    took.
    """

    example: Example
    answer: Prediction
    start: np.ndarray
    goal: Goal
    cost: int


@dataclass(frozen=True, eq=False)
class AttackQuestion:
    """name: the attack's title. unit: "word" or "span". extractor: what finds spans, or None. most: queries a text, or
    None. stored: texts -> the explanation whose scores stand for those of the order's method; None: they are computed.
    spans: texts -> the spans to edit; None: they are found.
    """

    model: Model
    name: str
    plan: AttackPlan
    unit: str
    extractor: str | None
    goal: Call
    dictionaries: Dictionaries
    seed: int
    most: int | None
    stored: Mapping[tuple[str, ...], Explanation] | None = None
    spans: StoredSpans | None = None

    def attempts(self, examples: Sequence[Example], report: Callable[[int], None]) -> list[Attempt]:
        """One attempt a text; what becomes of a text does not depend on the others. report: called with how many have
        ended.
        """
        if self._translates:
            self.dictionaries.start_translating()
        predicted = predictions(self.model, examples)
        answers = answers_for(self.model, self.goal, self.seed)
        by_number: dict[int, Attempt] = {}
        beginnings: dict[int, Beginning] = {}
        for example_index, (example, answer) in enumerate(zip(examples, predicted, strict=True)):
            beginning_or_attempt = self._beginning(example, answer, answers)
            if isinstance(beginning_or_attempt, Beginning):
                beginnings[example_index] = beginning_or_attempt
            else:
                by_number[example_index] = beginning_or_attempt
        places = self._places([beginning.example for beginning in beginnings.values()])
        cases = [self._case(*pair, answers) for pair in zip(beginnings.values(), places, strict=True)]
        attempts = attack_texts(
            self.model,
            answers,
            AttemptNames(self.name, self.goal.title, self._about),
            parts_of(self.plan),
            [case for case, _ in cases],
            [cost for _, cost in cases],
            self.most,
            lambda done: report(len(by_number) + done),
        )
        by_number |= zip(beginnings, attempts, strict=True)
        pieces = self.model.encode(examples).units
        return [
            replace(by_number[index], unread=unread_in(units, example.segments))
            for index, (units, example) in enumerate(zip(pieces, examples, strict=True))
        ]

    def facts(self) -> dict[str, object]:
        """Everything that the attempts depend on but the texts, in JSON's terms."""
        plan = self.plan
        return {
            "version": __version__,
            "model": self.model.hash,
            **route_record(self.model),
            "attack": self.name,
            "plan": repr((plan.order, plan.candidates, plan.guards, plan.search)),
            "unit": self.unit,
            "extractor": self.extractor,
            "goal": repr((self.goal.entry.name, dict(self.goal.settings))),
            "max queries": self.most,
            "dictionaries": self.dictionaries.facts(translates=self._translates),
            "seed": self.seed,
            "stored scores": None if self.stored is None else _digest(self.stored),
            **({"equal scores": TIES} if self.goal.entry.facts["reads"] == "explanation" else {}),
            **({} if self.spans is None else {"stored spans": _digest_of_spans(self.spans)}),
        }

    @property
    def _reads_gradient(self) -> bool:
        """Whether the search asks what a replacement gains to first order."""
        return "gradient" in parts_of(self.plan).search.entry.facts["needs"]

    @property
    def _reads_language_head(self) -> bool:
        """Whether a candidate asks the language head what may stand in a word's place."""
        return any("language_head" in call.entry.facts["needs"] for call in parts_of(self.plan).candidates)

    @property
    def _translates(self) -> bool:
        """Whether a candidate asks Apertium's programs."""
        return any("apertium" in call.entry.facts["needs"] for call in parts_of(self.plan).candidates)

    @property
    def _about(self) -> str:
        """The class that the goal names, or ""."""
        return str(self.goal.settings.get("label", ""))

    def _beginning(self, example: Example, answer: Prediction, answers: TextAnswers) -> Beginning | Attempt:
        """A text that is attacked, or what there is to say of one that is not."""
        if not is_right(example.label, answer, self.model.problem, self._about):
            return self._skipped(example, answer, "wrong before")
        start, cost = self._start(example, answer, answers)
        if start is None:
            return self._skipped(example, answer, "budget", cost)
        goal: Goal = self.goal(answer, start)
        if goal.reached(start[None])[0]:
            return self._skipped(example, answer, "reached before")
        return Beginning(example, answer, start, goal, cost)

    def _case(
        self, beginning: Beginning, of_places: tuple[tuple[Place, ...], int], answers: TextAnswers
    ) -> tuple[AttackCase, int]:
        """(what is attacked, the queries that it took so far)."""
        example, answer, wish = beginning.example, beginning.answer, beginning.goal
        places, cost = of_places
        omissions = self._omissions(example, places, wish, answers)
        scores, of_scores = (None, 0) if omissions is not None else self._scores(example, places, wish)
        gains, fillers = None, None
        cost += beginning.cost + of_scores
        if self._reads_gradient:
            gains, cost = self._gains(example, answer, places, wish), cost + 1
        if self._reads_language_head:
            fillers, cost = masked_fillers(self.model, example, places), cost + len(places)
        case = AttackCase(
            example,
            places,
            answer,
            wish,
            self.dictionaries,
            scores,
            omissions,
            self.seed,
            gains,
            fillers,
            beginning.start,
        )
        return case, cost

    def _places(self, examples: Sequence[Example]) -> list[tuple[tuple[Place, ...], int]]:
        """[text]: (what may be edited, the queries that choosing it took)."""
        if self.spans is not None:
            return [(self.spans[example.segments], 0) for example in examples]
        return places_of(self.model, examples, self.unit, self.extractor, self.seed)

    def _start(self, example: Example, answer: Prediction, answers: TextAnswers) -> tuple[np.ndarray | None, int]:
        """(what the goal reads of the text as it is, or None where the queries do not suffice; the queries that it
        took).
        """
        if not isinstance(answers, ExplainedAnswers):
            return answer_row(answer, self.goal.entry.facts["reads"]), 0
        reply = answers.start(example, answer.label, self.most)
        return reply.row, reply.cost

    def _scores(self, example: Example, places: tuple[Place, ...], wish: Goal) -> tuple[np.ndarray | None, int]:
        """([unit] scores that the order reads, highest first, the queries that they took)."""
        method = method_of(self.plan)
        if method is None:
            return None, 0
        if self.stored is not None:
            return wish.aim.first_edited(scores_at(self.stored[example.segments], places)), 0
        scores, cost = scores_of(self.model, example, method, places, self.seed, wish.aim.target)
        return wish.aim.first_edited(scores), cost

    def _omissions(
        self, example: Example, places: tuple[Place, ...], wish: Goal, answers: TextAnswers
    ) -> Sequence[Omission | None] | None:
        """What an order that asks for its scores itself asks; None where they are computed before, or stored.

        The scores of a text in windows are means over them, and those of logits are no probabilities: an explanation
        computes both.
        """
        has_number = isinstance(answers, ModelAnswers) and answers.reads == "probabilities"
        has_number &= wish.aim.target.output == "probability"
        if self.stored is not None or not has_number or not asks_omissions(self.plan):
            return None
        batch = self.model.encode([example])
        return None if batch.rows[0].windows else omissions_of(batch, 0, places)

    def _gains(
        self, example: Example, answer: Prediction, places: tuple[Place, ...], wish: Goal
    ) -> Callable[[int, str], float]:
        """How near a replacement should bring the answer to the goal, to first order."""
        target_class = wish.aim.target.of
        label = self.model.labels[target_class] if isinstance(target_class, int) else answer.label
        rise = first_order_gains(self.model, example, label, places, self.dictionaries)
        return lambda unit, replacement: wish.aim.gain(rise(unit, replacement))

    def _skipped(self, example: Example, answer: Prediction, ending: Ending, queries: int = 0) -> Attempt:
        """A text in which nothing is edited."""
        n_words = sum(len(segment.split()) for segment in example.segments)
        names = self.goal.title, self._about
        return Attempt(self.name, example, (), answer, answer, queries, n_words, math.nan, ending, *names)


def _digest(stored: Mapping[tuple[str, ...], Explanation]) -> str:
    return json_digest(
        [[list(texts), explanation.method, explanation.scores.tolist()] for texts, explanation in stored.items()]
    )


def _digest_of_spans(spans: StoredSpans) -> str:
    return json_digest(
        [
            [list(texts), [[place.segment, place.start, place.end] for place in places]]
            for texts, places in spans.items()
        ]
    )
