"""What is saved of a model whose reason is known: whether it was learnt, where the weights lie, and the verdict on
them.
"""

import shutil
import time
from collections.abc import Sequence
from dataclasses import asdict, replace

import numpy as np

import pellucid
from pellucid.base.catalogue import Choice
from pellucid.base.processes import Share
from pellucid.evidence.transfers import decoy_first, reason_precision, right_answers
from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.explanation import Explanation
from pellucid.results.table import CHANCE
from pellucid.text.example import Example, marked
from pellucid.text.units import Units
from studies.s4_fragility.trainings import Lesson, model_folder, trained
from studies.s4_verdicts.judged_weights import judged_weights
from studies.shared.attention_models import AttentionModel
from studies.shared.study import Settings
from studies.shared.units import Numbers

WEIGHTS = "unit_attention"


def planted_numbers(
    settings: Settings, reason: str, model: AttentionModel, seed: int, lesson: Lesson, share: Share
) -> Numbers:
    """Train a model on a planted reason. reason_found, chance, decoy_first: of every test text, whether learnt or not.

    Of verdict, decides and in_reason see `judged_weights`.
    """
    began, place = time.perf_counter(), replace(settings, work=settings.work / reason)
    classifier = trained(place, model, seed, lesson, share)
    texts = lesson.parts["test"]
    follows = pellucid.follows_planted_reason(classifier, texts)
    weights, chance = _weights_and_chance(classifier, texts)
    judged = judged_weights(classifier, texts, weights)
    _remove(place, model, seed)
    return {
        "reason": reason,
        "variant": model.variant,
        "seed": seed,
        "learnt": {**asdict(follows), "holds": follows.holds()},
        "reason_found": reason_precision(weights).round(4).tolist(),
        "chance": reason_precision(chance).round(4).tolist(),
        "decoy_first": decoy_first(weights).tolist(),
        "effective": _effective(weights),
        **judged,
        "seconds": time.perf_counter() - began,
    }


def deception_numbers(settings: Settings, model: AttentionModel, seed: int, lesson: Lesson, share: Share) -> Numbers:
    """Train a model on texts with marks. right, marked_weight: of every test text with marks, the latter 0 to 1.

    reason_found, chance: of the marked words. Of verdict, decides and in_reason see `judged_weights`.
    """
    began, place = time.perf_counter(), replace(settings, work=settings.work / "deception")
    classifier = trained(place, model, seed, lesson, share)
    texts = [one for one in lesson.parts["test"] if one.rationales]
    weights, chance = _weights_and_chance(classifier, texts)
    judged = judged_weights(classifier, texts, weights)
    _remove(place, model, seed)
    return {
        "variant": model.variant,
        "seed": seed,
        "right": [int(one) for one in right_answers(classifier, texts)],
        "marked_weight": [round(weight_on_marks(one), 6) for one in weights],
        "reason_found": reason_precision(weights).round(4).tolist(),
        "chance": reason_precision(chance).round(4).tolist(),
        "effective": _effective(weights),
        **judged,
        "seconds": time.perf_counter() - began,
    }


def _weights_and_chance(
    classifier: Classifier, texts: Sequence[Example]
) -> tuple[Sequence[Explanation], Sequence[Explanation]]:
    """Explanations by the model's own weights, and by random scores of 20 draws."""
    methods: list[Choice] = [WEIGHTS, (CHANCE, {"n_draws": 20})]
    weights, chance = pellucid.explain_all(classifier, texts, methods, progress=False).values()
    return weights, chance


def weight_on_marks(explanation: Explanation) -> float:
    """The share of the weight that lies on marked units; 0 where nothing is marked."""
    units = explanation.units
    assert isinstance(units, Units)  # weights of units are never spans
    marks = marked(units, explanation.example.rationales)
    scores = np.asarray(explanation.scores, dtype=float)[list(units.content)]
    return 0.0 if marks is None else float(scores[marks].sum() / scores.sum())


def _effective(weights: Sequence[Explanation]) -> float:
    return float(np.mean([one.diagnostics["effective_units"] for one in weights]))


def _remove(settings: Settings, model: AttentionModel, seed: int) -> None:
    """Delete a model, unless it is to stay."""
    if not settings.own["keep_models"]:
        shutil.rmtree(model_folder(settings, model, seed))
