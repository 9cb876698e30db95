"""Concepts: what do layers hold of the word "unhappiness" when its concept is known?

After Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 5.2.2 and
Figure 8, with their word and sentence, our own small set of concepts (theirs, from Microsoft's graph by hand, was not
released), and both of our densities (corrections.md A3.7). The classifiers are those of `s3_layers`; give the same
--work and they are not trained again.

    python -m studies s3_concepts --data FOLDER --work work/s3_layers --out studies/s3_concepts

Finished numbers are kept and not made again. `--size tiny` takes seconds.
"""

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any

from pellucid.base.processes import Share
from pellucid.layers.concepts_door import concepts
from studies.s3_concepts.numbers import summarise
from studies.s3_concepts.page import as_page, as_picture
from studies.s3_layers.models import MODELS, PRETRAINED, trained, training_parts
from studies.shared.options import DATA, DEVICE, ENCODER, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.text_choice import with_smallest_digests
from studies.shared.units import Numbers, Unit, text_digest

TEXT, WORD = "domestic tension and unhappiness", "unhappiness"


@dataclass(frozen=True)
class ConceptsSize:
    """How much is run. seeds, train, dev, reference, models: as in `s3_layers`. n_random: random pieces of the
    vocabulary. settings: those of retained_information that are not its defaults.
    """

    seeds: int
    train: int | None
    dev: int | None
    reference: int
    models: tuple[str, ...]
    n_random: int = 200
    settings: Mapping[str, Any] = field(default_factory=dict)


SMALL = ConceptsSize(3, None, 200, 200, tuple(MODELS))
TINY = ConceptsSize(3, 12, 4, 3, (PRETRAINED,), 4, {"n_steps": 4, "n_seeds": 1, "n_probes": 2})


@studies.add()
def s3_concepts() -> Study:
    """What do layers hold of a word when its concept is known? Figure 8 of Guan et al. (2019)."""
    return Study(
        sizes={"small": SMALL, "tiny": TINY},
        options=(DATA, WORK, ENCODER, DEVICE, FINISHED),
        work=UnitStages({"models": model_units, "concepts": concept_units}),
        summary=lambda settings, records: summarise(list(records["concepts"].values()), about(settings)),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"concepts.svg": lambda settings, numbers: as_picture(numbers)},
    )


def model_units(settings: Settings, records: Records) -> list[Unit]:
    """A training for each seed and model; those that `s3_layers` left in the same work folder are loaded."""
    return _for_each(settings, "model", _train)


def concept_units(settings: Settings, records: Records) -> list[Unit]:
    """The word in every layer, for each seed and model that is trained."""
    return [
        unit
        for unit in _for_each(settings, "concepts", _of_model)
        if unit.name.replace("concepts", "model", 1) in records["models"]
    ]


def _for_each(settings: Settings, kind: str, work: Callable[[Settings, str, int, Share], Numbers]) -> list[Unit]:
    return [
        Unit(
            f"{kind}-{name}-{seed}",
            about(settings),
            partial(work, settings, name, seed),
            settings.encoder,
            device=settings.device,
        )
        for seed in range(settings.size.seeds)
        for name in settings.size.models
    ]


def about(settings: Settings) -> Numbers:
    """What every number of the study depends on."""
    parts = training_parts(settings)
    size = {name: value for name, value in asdict(settings.size).items() if name != "models"}
    return size | {"text": TEXT, "word": WORD, "n_train": len(parts["train"]), "digest": text_digest(parts)}


def _train(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    return {"model": name, "seed": seed, "digest": trained(settings, name, seed, share).hash}


def _of_model(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    """layers and concepts by name; density -> remaining [layer][concept] and contrast [layer]."""
    size = settings.size
    model = trained(settings, name, seed)
    share(0.1)
    reference = with_smallest_digests(training_parts(settings)["train"], size.reference)
    analysis = concepts(
        model,
        TEXT,
        WORD,
        layer="all",
        positions="all",
        n_random=size.n_random,
        settings={"reference": tuple(one.segments[0] for one in reference), **size.settings},
        progress=False,
    )
    densities = {
        one.name: {
            "remaining": one.remaining.tolist(),
            "contrast": [_number(value) for value in one.contrast],
        }
        for one in analysis.densities
    }
    return {
        "model": name,
        "seed": seed,
        "layers": list(analysis.layers),
        "concepts": [one.name for one in analysis.concepts],
        "densities": densities,
        "settled": analysis.explanation.diagnostics["converged"],
    }


def _number(value: float) -> float | None:
    """None for nan, which JSON has not."""
    return float(value) if value == value else None
