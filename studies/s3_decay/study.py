"""Does a larger penalty on the weights leave less of the words? Models of different penalties, and what each still
holds.

After Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 4.3 and
Figure 4. Small Transformers learn sentiment with `Recipe.l2`, which is in the loss as the paper's alpha is. For each,
retained information says how much of every word the state still holds that its head reads. The first model has no
penalty; the others are compared with it.

    python -m studies s3_decay --data FOLDER --work work/s3_decay --out studies/s3_decay

FOLDER holds train, dev and test as JSON lines. Finished models are kept as numbers and not made again, and work that
was interrupted goes on. The files of units hold the texts that were explained. `--size tiny --data pocket` takes
seconds.
"""

import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import Any

from pellucid.base.processes import Share
from pellucid.data.load import load_examples
from pellucid.explaining.answers import class_logits_of
from pellucid.layers.door import layer_analysis
from pellucid.models.classifiers.classifier import Classifier
from pellucid.results.storage import as_records
from pellucid.text.example import Example
from pellucid.training.train import train_model
from studies.s3_accuracy.models import model_plan, model_recipe
from studies.s3_decay.numbers import summarise
from studies.s3_decay.page import as_page, as_picture
from studies.shared.options import DATA, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.text_choice import with_smallest_digests
from studies.shared.units import Numbers, Unit, text_digest

MODEL, METHOD = "transformer", "retained_information"
REFERENCE = 100  # train texts on which the spread of states is measured
OF_TRAINING = 0.6  # of a unit's time


@dataclass(frozen=True)
class DecaySize:
    """How much is run. weights: of the penalty, the first is 0. seeds: trainings of each. train, dev, test, explained:
    texts, those with the smallest digests; explained ones are of test. width: numbers of a state. settings: of the
    method.
    """

    weights: tuple[float, ...]
    seeds: int
    train: int
    dev: int
    test: int
    explained: int
    epochs: int
    width: int
    settings: Mapping[str, Any]


SIZES = {
    "tiny": DecaySize((0.0, 1e-2), 2, 64, 12, 24, 3, 1, 8, {"n_seeds": 2, "n_steps": 4, "n_probes": 2}),
    "small": DecaySize((0.0, 1e-5, 1e-4), 3, 2_500, 400, 1_000, 24, 3, 256, {"n_steps": 38}),
}


@studies.add()
def s3_decay() -> Study:
    """Does a larger penalty on the weights leave less of the words? Figure 4 of Guan et al. (2019)."""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, FINISHED),
        work=UnitStages({"models": model_units}),
        summary=lambda settings, records: summarise(records["models"].values(), about(settings)),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"decay.svg": lambda settings, numbers: as_picture(numbers)},
    )


def model_units(settings: Settings, records: Records) -> list[Unit]:
    """A model of each weight with each seed, seed by seed."""
    shared = about(settings)
    return [
        Unit(f"l2-{weight:g}-{seed}", shared, partial(_model, settings, weight, seed))
        for seed in range(settings.size.seeds)
        for weight in settings.size.weights
    ]


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    parts = texts_of(settings.data, settings.size_name)
    counts = {f"n_{split}": len(texts) for split, texts in parts.items()}
    return asdict(settings.size) | counts | {"texts": text_digest(parts), "method": METHOD, "model": MODEL}


@cache
def texts_of(data: str, size_name: str) -> dict[str, list[Example]]:
    """The texts that are learnt from, that choose the epoch, that are judged, and that are explained."""
    size = SIZES[size_name]
    most = {"train": size.train, "dev": size.dev, "test": size.test}
    parts = {split: with_smallest_digests(load_examples(data, split), count) for split, count in most.items()}
    return parts | {"explained": parts["test"][: size.explained]}


def _model(settings: Settings, weight: float, seed: int, share: Share) -> Numbers:
    """Train a model, judge it, explain what its head reads, and delete it."""
    began, size = time.perf_counter(), settings.size
    parts, folder = texts_of(settings.data, settings.size_name), settings.work / f"l2-{weight:g}-{seed}"
    labels = tuple(sorted({one.label for one in parts["train"] if one.label is not None}))
    model = train_model(
        {split: parts[split] for split in ("train", "dev")},
        model_plan(MODEL, labels, "", size.width),
        replace(model_recipe(MODEL, size.epochs, seed), l2=weight),
        folder / "model",
        settings.device,
        progress=lambda _, done, total: share(OF_TRAINING * done / total),
    )
    answers = class_logits_of(model, parts["test"]).argmax(-1).tolist()
    # Its own name has the work folder in it, which numbers must not depend on.
    explanations = _explained(replace(model, name=folder.name), parts, size, folder / "layers")
    squares = sum(float(one.detach().double().square().sum()) for one in model.network.parameters())
    shutil.rmtree(folder)
    return {
        "l2": weight,
        "seed": seed,
        "right": [int(model.labels[one] == text.label) for one, text in zip(answers, parts["test"], strict=True)],
        "explanations": explanations,
        "squares": squares,
        "seconds": time.perf_counter() - began,
    }


def _explained(model: Classifier, parts: Mapping[str, list[Example]], size: DecaySize, folder: Path) -> list[Numbers]:
    """The records of the explanations of what the head reads; finished ones are in the folder."""
    reference = tuple(one.segments[0] for one in parts["train"][:REFERENCE])
    analysis = layer_analysis(
        {model.name: model},
        parts["explained"],
        METHOD,
        layers="head",
        out=folder,
        progress=False,
        reference=reference,
        **size.settings,
    )
    return [dict(one) for one in as_records(analysis.models[0].seeds[0])]
