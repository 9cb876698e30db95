"""What an attack is asked: the model, the plan, the goal and its limits; the attempts on some texts, and the facts that decide them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from pellucid.api.attacks.attack_cases import places_of, scores_at, scores_of
from pellucid.api.attacks.first_order import first_order_gains
from pellucid.api.attacks.masked_fillers import masked_fillers
from pellucid.attacks.shared.attack_case import AttackCase, Goal
from pellucid.attacks.shared.attack_parts import method_of, parts_of
from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.attacks.shared.attack_texts import attack_texts
from pellucid.attacks.shared.dictionaries import Dictionaries
from pellucid.core.explaining.predicting import predictions
from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.seals import json_digest
from pellucid.core.foundation.version import __version__
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.results.attempt import Attempt
from pellucid.core.results.explanation import Explanation
from pellucid.core.results.prediction import Prediction
from pellucid.core.text.example import Example


@dataclass(frozen=True, eq=False)
class AttackQuestion:
    """name: the attack's title. unit: "word" or "span". extractor: what finds spans, or None. most: queries a text, or None. stored: texts -> the
    explanation whose scores stand for those of the order's method; None: they are computed.
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

    def attempts(self, examples: Sequence[Example], report: Callable[[int], None]) -> list[Attempt]:
        """One attempt a text; what becomes of a text does not depend on the others. report: called with how many have ended."""
        answers = predictions(self.model, examples)
        attacked = [n for n, one in enumerate(examples) if self._is_right(one, answers[n])]
        skipped = len(examples) - len(attacked)
        cases, queries = self._cases([examples[n] for n in attacked], [answers[n] for n in attacked])
        attempts = attack_texts(
            self.model,
            scheduler_for(self.model),
            self.name,
            parts_of(self.plan),
            cases,
            queries,
            self.most,
            lambda done: report(skipped + done),
        )
        by_number = dict(zip(attacked, attempts, strict=True))
        return [by_number.get(n) or self._skipped(one, answers[n]) for n, one in enumerate(examples)]

    def facts(self) -> dict[str, object]:
        """Everything that the attempts depend on but the texts, in JSON's terms."""
        plan = self.plan
        return {
            "version": __version__,
            "model": self.model.hash,
            "attack": self.name,
            "plan": repr((plan.order, plan.candidates, plan.guards, plan.search)),
            "unit": self.unit,
            "extractor": self.extractor,
            "goal": repr((self.goal.entry.name, dict(self.goal.settings))),
            "max queries": self.most,
            "dictionaries": self.dictionaries.facts(),
            "seed": self.seed,
            "stored scores": None if self.stored is None else _digest(self.stored),
        }

    @property
    def _reads_gradient(self) -> bool:
        """Whether the search asks what a replacement gains to first order."""
        return "gradient" in parts_of(self.plan).search.entry.facts["needs"]

    @property
    def _reads_language_head(self) -> bool:
        """Whether a candidate asks the language head what may stand in a word's place."""
        return any("language_head" in call.entry.facts["needs"] for call in parts_of(self.plan).candidates)

    def _is_right(self, example: Example, answer: Prediction) -> bool:
        """Whether a text is attacked: the answer is its label, or it has none that the model knows."""
        return example.label not in self.model.labels or example.label == answer.label

    def _cases(
        self, examples: Sequence[Example], answers: Sequence[Prediction]
    ) -> tuple[list[AttackCase], list[int]]:
        """A case for each text that is attacked, and what the scores of its order took."""
        method = method_of(self.plan)
        cases, queries = [], []
        for example, answer in zip(examples, answers, strict=True):
            wish: Goal = self.goal(answer)
            places, cost = places_of(self.model, example, self.unit, self.extractor, self.seed)
            scores = None
            if method is not None and self.stored is not None:
                scores = scores_at(self.stored[example.segments], places)
            elif method is not None:
                scores, more = scores_of(self.model, example, method, places, self.seed)
                cost += more
            gains = None
            if self._reads_gradient:
                gains = first_order_gains(self.model, example, answer.label, places, self.dictionaries)
                cost += 1
            fillers = None
            if self._reads_language_head:
                fillers, cost = masked_fillers(self.model, example, places), cost + len(places)
            cases.append(
                AttackCase(
                    example, places, answer, wish, self.dictionaries, scores, self.seed, gains, fillers
                )
            )
            queries.append(cost)
        return cases, queries

    def _skipped(self, example: Example, answer: Prediction) -> Attempt:
        """A text whose answer was wrong before."""
        n_words = sum(len(segment.split()) for segment in example.segments)
        return Attempt(self.name, example, (), answer, answer, 0, n_words, math.nan, "wrong before")


def _digest(stored: Mapping[tuple[str, ...], Explanation]) -> str:
    return json_digest([[list(texts), one.method, one.scores.tolist()] for texts, one in stored.items()])
