"""What every layer holds of the words while a model is trained: a BiLSTM from random vectors, and a pretrained encoder.

After Guan et al. (2019), "Towards a Deep and Unified Understanding of Deep Neural Models in NLP", section 5.3 and
Figure 9. Every so many steps retained information explains the states of each layer, those of all tokens side by side,
in a fixed sample of dev texts. The claims: the LSTM first holds more and then less, and the pretrained model changes
little but in its top layers.

    python -m studies s3_training --data FOLDER --work work/s3_training --out studies/s3_training

FOLDER holds train, dev and test as JSON lines. Finished trainings are kept as numbers and not made again, and a
training that was interrupted goes on. `--size tiny --data pocket` takes seconds.
"""

import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import cache, partial
from pathlib import Path

from pellucid.base.processes import Share
from pellucid.data.load import load_examples
from pellucid.results.explanation import Explanation
from pellucid.results.storage import read
from pellucid.text.example import Example
from pellucid.training.train import train_model
from pellucid.training.trained_folder import TrainedFolder
from pellucid.training.watch import FOLDER, Watch
from studies.s3_accuracy.models import PRETRAINED, model_plan, model_recipe
from studies.s3_training.numbers import LSTM, summarise
from studies.s3_training.page import as_page
from studies.s3_training.picture import as_picture
from studies.shared.options import DATA, ENCODER, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.text_choice import with_smallest_digests
from studies.shared.units import Numbers, Unit, text_digest

METHOD = "retained_information"
REFERENCE = 50  # train texts on which the spread of states is measured, anew at every look


@dataclass(frozen=True)
class TrainingSize:
    """How much is run. every: steps between looks. watched: dev texts that are explained. seeds: trainings of each
    model. train, dev: texts, those with the smallest digests. epochs: of each model. width: numbers of the BiLSTM's
    states. settings: of the method.
    """

    every: int
    watched: int
    seeds: int
    train: int
    dev: int
    epochs: Mapping[str, int]
    width: int
    settings: Mapping[str, int]


SIZES = {
    "tiny": TrainingSize(1, 4, 2, 64, 12, {LSTM: 2, PRETRAINED: 1}, 8, {"n_seeds": 1, "n_steps": 4, "n_probes": 2}),
    "small": TrainingSize(
        50, 6, 3, 2_500, 400, {LSTM: 4, PRETRAINED: 2}, 256, {"n_seeds": 1, "n_steps": 19, "n_probes": 8}
    ),
}


@studies.add()
def s3_training() -> Study:
    """What does every layer hold of the words while a model is trained? Figure 9 of Guan et al. (2019)."""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, ENCODER, FINISHED),
        work=UnitStages({"trainings": training_units}),
        summary=lambda settings, records: summarise(records["trainings"].values(), about(settings)),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"training.svg": lambda settings, numbers: as_picture(numbers)},
    )


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """A watched training of each model with each seed, seed by seed."""
    shared = about(settings)
    return [
        Unit(f"{name}-{seed}", shared, partial(_watched, settings, name, seed), settings.encoder)
        for seed in range(settings.size.seeds)
        for name in settings.size.epochs
    ]


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    parts = texts_of(settings.data, settings.size_name)
    counts = {f"n_{split}": len(texts) for split, texts in parts.items()}
    return asdict(settings.size) | counts | {"texts": text_digest(parts), "method": METHOD}


@cache
def texts_of(data: str, size_name: str) -> dict[str, list[Example]]:
    """The texts that are learnt from, and those that choose the epoch; of the latter some are watched."""
    most = {"train": SIZES[size_name].train, "dev": SIZES[size_name].dev}
    return {split: with_smallest_digests(load_examples(data, split), count) for split, count in most.items()}


def _watched(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    """Train a model while it is watched, and delete it: nats of each step, layer and text."""
    began, size = time.perf_counter(), settings.size
    parts, folder = texts_of(settings.data, settings.size_name), settings.work / f"{name}-{seed}"
    labels = tuple(sorted({one.label for one in parts["train"] if one.label is not None}))
    reference = tuple(one.segments[0] for one in parts["train"][:REFERENCE])
    train_model(
        parts,
        model_plan(name, labels, settings.encoder, size.width),
        model_recipe(name, size.epochs[name], seed),
        folder,
        settings.device,
        progress=lambda _, done, total: share(done / total),
        watch=Watch(size.every, size.watched, METHOD, dict(size.settings) | {"reference": reference}),
    )
    looks = looks_in(folder / FOLDER)
    numbers = {
        "model": name,
        "seed": seed,
        "steps": list(looks),
        "layers": list(next(iter(looks.values()))[0].rows[0][1]),
        "nats": [sums_of(look) for look in looks.values()],
        "settled": [float(one.diagnostics["converged"]) for look in looks.values() for one in look],
        "history": TrainedFolder(folder).history,
        "seconds": time.perf_counter() - began,
    }
    shutil.rmtree(folder)
    return numbers


def looks_in(folder: Path) -> dict[int, list[Explanation]]:
    """Step -> the explanations of its look, from the first step on."""
    return {int(path.stem.rpartition("-")[2]): read(path) for path in sorted(folder.glob("step-*.parquet"))}


def sums_of(look: list[Explanation]) -> list[list[float]]:
    """[layer text]: the scores of a text's pieces added up, without special tokens."""
    by_text = [one.scores[:, list(one.units.content)].sum(-1, dtype="float64").tolist() for one in look]
    return [list(layer) for layer in zip(*by_text, strict=True)]
