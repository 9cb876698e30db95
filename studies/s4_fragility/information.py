"""One trained model's mutual information of words and states as a unit of work: table 2.

Tutek & Šnajder (2020), "Staying True to Your Word", sections 3.4 and 4.2. Of the texts that the model has learnt from;
word vectors and states are grouped apart, and where both are equally wide together too (corrections.md A4.9).
"""

import time
from dataclasses import asdict
from functools import partial

from pellucid.attention.weight_tests.mutual_information import (
    Grouping,
    MutualInformation,
    WordStates,
    mutual_information,
    word_states,
)
from pellucid.attention.weight_tests.states import VOCABULARIES
from pellucid.base.processes import Share
from studies.s4_fragility.tasks import InformationSize
from studies.s4_fragility.trainings import Lesson, trained_model, training_about
from studies.shared.attention_models import RECIPE, AttentionModel
from studies.shared.study import Settings
from studies.shared.units import Numbers, Unit

POOLER = "additive"  # of all models of table 2
GROUPINGS: tuple[Grouping, ...] = ("separate", "joint")


def information_unit(settings: Settings, model: AttentionModel, seed: int, lesson: Lesson) -> Unit:
    """A training's mutual information, by its model and seed."""
    return Unit(
        f"{model.name}-{seed}-information",
        training_about(model, seed, lesson) | {"information": asdict(settings.size.information)},
        partial(_information, settings, model, seed, lesson),
        precision=RECIPE.precision,
        device=settings.device,
    )


def _information(settings: Settings, model: AttentionModel, seed: int, lesson: Lesson, share: Share) -> Numbers:
    """Measure a model in the work folder; one that did not stay there is trained again, and deleted again."""
    began = time.perf_counter()
    with trained_model(settings, model, seed, lesson, share) as classifier:
        states = word_states(classifier, lesson.parts["train"])
    return {
        "variant": model.variant,
        "seed": seed,
        "information": information_of(states, settings.size.information, seed),
        "seconds": time.perf_counter() - began,
    }


def information_of(states: WordStates, size: InformationSize, seed: int) -> Numbers:
    """Vocabulary -> grouping -> `MutualInformation`; without "joint" where states are wider than word vectors."""
    groupings = [one for one in GROUPINGS if one == "separate" or states.vectors.shape[1] == states.states.shape[1]]

    def measured(vocabulary: str, grouping: Grouping) -> MutualInformation:
        kind = VOCABULARIES[vocabulary]
        return mutual_information(states, vocabulary=kind, grouping=grouping, seed=seed, **asdict(size))

    return {
        vocabulary: {grouping: asdict(measured(vocabulary, grouping)) for grouping in groupings}
        for vocabulary in VOCABULARIES
    }
