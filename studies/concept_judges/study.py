"""Learnt concepts: which way of finding them gives concepts that are better than random directions, by which judge?

A classifier is trained on each corpus with each seed. Concepts of one of its layers are found in train texts by nmf,
ica, kmeans and svd, and all judges of `compare --learnt` judge them on test texts, each number beside that of as
many random directions. Seeds are of training, search and draws alike.

    python -m studies concept_judges --data FOLDER --out studies/concept_judges

FOLDER holds the folders sst2 and ag_news with train, dev and test as JSON lines; pocket is in the package. Finished
units are kept and not repeated; a unit of the size small, a training and its four searches, takes about two minutes on
one core. `--size tiny --data pocket` takes seconds.
"""

import shutil
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import partial
from random import Random

from pellucid.base.processes import Share
from pellucid.data.load import load_examples
from pellucid.data.shared.part_files import PARTS
from pellucid.discovery.door import find_concepts
from pellucid.discovery.judged import judge_concepts
from pellucid.explaining.answers import accuracy
from pellucid.models.composed.networks import Plan
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from studies.concept_judges.page import as_page, summarise
from studies.shared.data_folders import corpus_title, source_of
from studies.shared.options import DATA, ENCODER, FINISHED
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest

WAYS = ("ica", "kmeans", "nmf", "svd")  # written out, so finished units stay valid when there are more
TITLES = {"pocket": "pocket", "sst2": "SST-2", "ag_news": "AG News"}


@dataclass(frozen=True)
class ConceptJudgesSize:
    """corpora: names. seeds: trainings of each. texts: of each part. epochs: of each training. layer: whose states are
    searched. concepts: of each search. removals: texts that concepts are taken out of.
    """

    corpora: tuple[str, ...]
    seeds: int
    texts: dict[str, int]
    epochs: int
    layer: int
    concepts: int
    removals: int


SIZES = {
    "tiny": ConceptJudgesSize(("pocket",), 2, {"train": 40, "dev": 12, "test": 30}, 1, 1, 3, 4),
    "small": ConceptJudgesSize(tuple(TITLES), 3, {"train": 500, "dev": 100, "test": 150}, 2, 4, 10, 20),
}


@studies.add()
def concept_judges() -> Study:
    """Which way of finding concepts gives concepts that are better than random directions?"""
    return Study(
        sizes=SIZES,
        options=(DATA, ENCODER, FINISHED),
        work=UnitStages({"judged concepts": judged_units}),
        summary=lambda settings, records: summarise(about(settings), list(records["judged concepts"].values())),
        page=lambda settings, numbers: as_page(numbers),
    )


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    size = asdict(settings.size)
    titles = {name: corpus_title(TITLES[name], source_of(name, settings.data), name) for name in size["corpora"]}
    return {**size, "corpora": titles}


def judged_units(settings: Settings, records: Records) -> list[Unit]:
    """A training with its searches for each corpus and seed, seed by seed."""
    size: ConceptJudgesSize = settings.size
    parts = {corpus: corpus_parts(settings, corpus) for corpus in size.corpora}
    how = {name: value for name, value in asdict(size).items() if name not in ("corpora", "seeds")}
    return [
        Unit(
            f"{corpus}-{seed}",
            how | {"corpus": corpus, "seed": seed, "digest": text_digest(parts[corpus])},
            partial(_judged, settings, corpus, seed),
            settings.encoder,
            "float32",
        )
        for seed in range(size.seeds)
        for corpus in size.corpora
    ]


def corpus_parts(settings: Settings, corpus: str) -> dict[str, list[Example]]:
    """Examples of each part of a corpus, drawn at random, since some stand in the order of their labels."""
    every = {part: load_examples(source_of(corpus, settings.data), part) for part in PARTS}
    counts = {part: min(settings.size.texts[part], len(examples)) for part, examples in every.items()}
    return {part: Random(f"{corpus} {part}").sample(examples, counts[part]) for part, examples in every.items()}


def _judged(settings: Settings, corpus: str, seed: int, share: Share) -> Numbers:
    """Train a model, find concepts by each way, judge them, and delete the model."""
    size, parts = settings.size, corpus_parts(settings, corpus)
    folder = settings.out / "models" / f"{corpus}-{seed}"
    plan = Plan(settings.encoder, "mean", {}, tuple(sorted({str(example.label) for example in parts["train"]})))
    recipe = Recipe(seed=seed, epochs=size.epochs, batch_size=16, learning_rate=5e-5, precision="float32")
    model = train_model(parts, plan, recipe, folder, "cpu", progress=lambda _, done, total: share(0.4 * done / total))
    ways = {}
    for index, method in enumerate(WAYS):
        ways[method] = _verdicts(model, parts["train"], parts["test"], method, size, seed)
        share(0.4 + 0.6 * (index + 1) / len(WAYS))
    numbers = {"corpus": corpus, "seed": seed, "accuracy": accuracy(model, parts["test"]).mean, "ways": ways}
    shutil.rmtree(folder)
    return numbers


def _verdicts(
    model: Model, train: Sequence[Example], test: Sequence[Example], method: str, size: ConceptJudgesSize, seed: int
) -> Numbers:
    """Judge -> what it says of concepts and of random directions, and which is better."""
    concepts = find_concepts(  # what taking concepts out does is asked of test texts
        model, train, size.layer, n=size.concepts, method=method, n_texts=2, seed=seed, progress=False
    )
    judged = judge_concepts(model, test, concepts, n_texts=size.removals, seed=seed, progress=False)
    return {
        verdict.judge: {
            "value": verdict.beside.value.mean,
            "chance": verdict.beside.chance.mean,
            "over": verdict.beside.over.mean,
            "better": verdict.better,
        }
        for verdict in judged.verdicts
    }
