"""Planted word: does saliency of a layer, read back in words, find the one word that is known to decide the label?

Hou and Castañón (2023), "Decoding Layer Saliency in Language Transformers"; the data after Bastings et al. (2022),
"Will You Find These Shortcuts?". A classifier learns `planted_token`, in whose texts one made-up word decides. Dev
texts choose the layer, test texts judge it. The same texts serve all seeds; a seed is another training of the
classifier and of its lens.

    python -m studies s1_planted --work work/s1_planted --out studies/s1_planted

--lens names a lens or a pretrained checkpoint whose head decodes the states; without it a short lens is trained for
each seed on the texts that the classifier learnt. Finished seeds are kept and not done again. `--size tiny` takes
seconds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

import pellucid
from pellucid.base.catalogue import Choice
from pellucid.base.processes import Share
from pellucid.data.built_in import CLASSES
from pellucid.data.load import load_examples
from pellucid.evidence.transfers import reason_precision
from pellucid.layers.lens_stage import LensRecipeChanges
from pellucid.models.composed.networks import Plan
from pellucid.results.explanation import Explanation
from pellucid.results.table import CHANCE
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from studies.s1_games.study import LENS_OPTION
from studies.s1_games.tasks import DECODED, UNDECODED
from studies.s1_planted.page import as_page
from studies.s1_planted.summary import summarise
from studies.shared.equal_scores import EqualScores
from studies.shared.options import ENCODER, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest

PLANTED = "planted_token"
SPLITS = ("train", "dev", "test")


@dataclass(frozen=True)
class PlantedWordSize:
    """How much is run. train, dev, test: texts of each part. epochs: of the classifier. head_steps, translator_steps:
    of the lens.
    """

    train: int
    dev: int
    test: int
    seeds: int
    epochs: int
    head_steps: int
    translator_steps: int


SIZES = {
    "tiny": PlantedWordSize(24, 4, 4, 2, 1, 3, 2),
    "small": PlantedWordSize(1000, 200, 200, 3, 3, 300, 150),
}


@studies.add()
def s1_planted() -> Study:
    """Does saliency that a language head reads back in words find the one word that decides the label?"""
    return Study(
        sizes=SIZES,
        options=(WORK, ENCODER, LENS_OPTION, FINISHED),
        work=UnitStages({"seeds": seed_units}),
        summary=lambda settings, records: summarise(list(records["seeds"].values()), settings.own["lens"]),
        page=lambda settings, numbers: as_page(numbers),
        equal_scores=EqualScores(
            "average precision took equal scores as one threshold",
            "This concerns decoded_saliency, where a word stands twice in a text, and grad_cam, which gives words 0.",
            stage="seeds",
        ),
    )


def seed_units(settings: Settings, records: Records) -> list[Unit]:
    """One unit a seed: its classifier, its lens, and the scores of all layers on dev and test texts."""
    about = asdict(settings.size) | {
        "texts": text_digest(planted_parts(settings)),
        "lens": settings.own["lens"],
    }
    return [
        Unit(f"seed-{seed}", about | {"seed": seed}, partial(_measure, settings, seed), settings.encoder)
        for seed in range(settings.size.seeds)
    ]


def planted_parts(settings: Settings) -> dict[str, list[Example]]:
    """The texts of each part."""
    return {split: load_examples(PLANTED, split)[: getattr(settings.size, split)] for split in SPLITS}


def _measure(settings: Settings, seed: int, share: Share) -> Numbers:
    """One seed's numbers: accuracy on test, and for dev and test both of `layer_precisions`."""
    parts = planted_parts(settings)
    folder = settings.work / "models" / f"plain-{seed}"
    classifier = _trained(settings, seed, folder, parts, share)
    right = pellucid.accuracy(classifier, parts["test"])
    lens = settings.own["lens"] or str(_lens(settings, seed, classifier, parts))
    share(0.7)
    model = pellucid.load(folder, language_head=lens)
    precisions = {split: layer_precisions(model, parts[split], seed) for split in ("dev", "test")}
    return {"seed": seed, "accuracy": right.mean, "digest": classifier.hash, "precisions": precisions}


def _trained(
    settings: Settings, seed: int, folder: Path, parts: Mapping[str, Sequence[Example]], share: Share
) -> Model:
    """A classifier that reads the first token's state. A finished one is loaded."""
    recipe = Recipe(seed=seed, epochs=settings.size.epochs, batch_size=16, learning_rate=1e-4)
    return train_model(
        parts,
        Plan(settings.encoder, "first_token", {}, CLASSES),
        replace(recipe, new_parts_factor=2.0),
        folder,
        "cpu",
        progress=lambda _, done, total: share(0.4 * done / total),
    )


def _lens(settings: Settings, seed: int, model: Model, parts: Mapping[str, Sequence[Example]]) -> Path:
    """The folder of a seed's own lens on the classifier; a finished one stays, an interrupted one goes on."""
    out = settings.work / "lenses" / f"plain-{seed}"
    short: LensRecipeChanges = {
        "head_steps": settings.size.head_steps,
        "translator_steps": settings.size.translator_steps,
        "seed": seed,
    }
    pellucid.lens(model, {"train": parts["train"], "dev": parts["dev"]}, out=out, progress=False, **short)
    return out


def layer_precisions(model: Model, texts: Sequence[Example], seed: int) -> Numbers:
    """For each method, and of methods of layers for each layer ("decoded_saliency l3"), the average precision of every
    text.

    `recovery`: for each layer the mean share of a text's pieces that the language head names first.
    """
    methods: list[Choice] = [
        (CHANCE, {"n_draws": 20}),
        *((name, {"layer": layer}) for name in (UNDECODED, DECODED) for layer in range(model.n_layers + 1)),
    ]
    explained = pellucid.explain_all(model, texts, methods, seed=seed, progress=False)
    titles = [
        CHANCE,
        *(f"{name} l{layer}" for name in (UNDECODED, DECODED) for layer in range(model.n_layers + 1)),
    ]
    by_title = dict(zip(titles, explained.values(), strict=True))
    recovery = {
        title.rpartition(" l")[2]: float(np.mean([one.diagnostics["recovery"] for one in explanations]))
        for title, explanations in by_title.items()
        if title.startswith(DECODED)
    }
    return {"found": {title: _precision(one) for title, one in by_title.items()}, "recovery": recovery}


def _precision(explanations: Sequence[Explanation]) -> list[float]:
    return [round(value, 4) for value in reason_precision(explanations).tolist()]
