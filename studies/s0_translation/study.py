"""Does a translator that explains itself translate as well as its plain twin, and how much do its spans carry?

After Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", table 2, on Multi30k (Elliott et al. 2016) in
place of IWSLT14. The layer is our reading of the paper (docs/papers/corrections.md A0.16).

    python -m studies s0_translation --data FOLDER --work work/s0_translation --out studies/s0_translation/small

FOLDER holds train, dev, test, test_2017_flickr and test_2017_mscoco as JSON lines with the fields id, en and de.
Finished units are kept and not made again. A training takes about half an hour of one core; `--only plain,span` does
the two of table 2 alone. `--size parts` takes the layer apart, one training each: the paper's penalty with lambda 0,
0.5 and 1, the entropy in its place, equal weights, and one query for all steps. `--size unscaled` is the layer without
the division of its scores. Translators stay in WORK.

`--size paper` is Transformer-base on IWSLT14, three seeds of table 2's two; it wants a GPU (`--device cuda`). FOLDER
then holds the files that `pellucid convert ORIGINAL train.jsonl --format iwslt --read source=en --read target=de
--split train` writes, and the same for dev and test.
"""

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from pellucid.base.processes import Share
from pellucid.data.load import load_examples
from pellucid.models.translation.source_spans import SpanSettings
from pellucid.models.translation.untrained_network import NetworkSettings
from pellucid.text.example import Example
from pellucid.writing.train_translator import train_translator
from pellucid.writing.translator_plan import TranslationRecipe, TranslatorPlan
from studies.s0_translation.judging import carried_numbers, translated
from studies.s0_translation.page import as_page
from studies.s0_translation.summary import summarise
from studies.shared.data_folders import corpus_title
from studies.shared.options import DATA, DEVICE, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

TESTS = ("test", "test_2017_flickr", "test_2017_mscoco")
VARIANTS: Mapping[str, tuple[TranslatorPlan, dict[str, float]]] = {
    "plain": (TranslatorPlan(pooler="none"), {}),
    "span": (TranslatorPlan(), {}),
    "half": (TranslatorPlan(), {"concentration": 0.5}),
    "one": (TranslatorPlan(), {"concentration": 1.0}),
    "entropy": (TranslatorPlan(), {"entropy": 0.1}),
    "uniform": (TranslatorPlan(spans=SpanSettings(weights="uniform")), {}),
    "static": (TranslatorPlan(spans=SpanSettings(query="static")), {}),
    "unscaled": (TranslatorPlan(spans=SpanSettings(scale=False)), {}),
    "unscaled_entropy": (TranslatorPlan(spans=SpanSettings(scale=False)), {"entropy": 0.1}),
    "unscaled_static": (TranslatorPlan(spans=SpanSettings(query="static", scale=False)), {}),
}
ONLY = Option("--only", {"help": "names of variants with commas between them; the others are not begun"})


@dataclass(frozen=True)
class TranslationSize:
    """seeds: of each variant. n_train, n_test: pairs; None: all. explained: dev pairs whose words' spans are
    counted.
    """

    seeds: Mapping[str, int]
    epochs: int
    n_train: int | None = None
    n_test: int | None = None
    explained: int = 200
    beam: int = 5
    tests: tuple[str, ...] = TESTS
    pieces: int = 6000
    network: NetworkSettings = field(default_factory=NetworkSettings)


SIZES = {
    "tiny": TranslationSize(
        {"plain": 2, "span": 2, "static": 1}, 2, 30, 5, 3, 1, ("test",), 400, NetworkSettings(1, 16, 2)
    ),
    "small": TranslationSize({"plain": 3, "span": 3, "entropy": 1, "uniform": 1, "static": 1}, 7),
    "unscaled": TranslationSize(
        {"plain": 3, "unscaled": 3, "uniform": 1, "unscaled_entropy": 1, "unscaled_static": 1}, 7
    ),
    "paper": TranslationSize(
        {"plain": 3, "span": 3},
        20,
        tests=("test",),
        pieces=10_000,
        network=NetworkSettings(6, 512, 8, 2048),
    ),
    "parts": TranslationSize(dict.fromkeys(("span", "half", "one", "entropy", "uniform", "static"), 1), 5),
}


@studies.add()
def s0_translation() -> Study:
    """Does a translator that explains itself translate as well as its plain twin? Table 2 of Sun et al. (2020)."""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, ONLY, DEVICE, FINISHED),
        work=UnitStages({"trainings": training_units}, wanted=_is_wanted),
        summary=lambda settings, records: summarise(titled(settings), list(records["trainings"].values())),
        page=lambda settings, numbers: as_page(numbers),
        pictures={},
    )


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """A training of each variant with each of its seeds; table 2's variants come first, seed by seed."""
    size = settings.size
    return [
        Unit(
            f"{variant}-{seed}",
            about(settings) | _layer(variant) | {"variant": variant, "seed": seed},
            partial(_trained, settings, variant, seed),
            device=settings.device,
        )
        for seed in range(max(size.seeds.values()))
        for variant in VARIANTS
        if seed < size.seeds.get(variant, 0)
    ]


def _layer(variant: str) -> Numbers:
    plan, penalties = VARIANTS[variant]
    return {"spans": plan.record()["spans"], "penalties": dict(penalties)}


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    size = settings.size
    return {
        "seeds": dict(size.seeds),
        "epochs": size.epochs,
        "n_train": len(pairs_of(settings.data, "train", size.n_train)),
        "tests": {name: len(pairs_of(settings.data, name, size.n_test)) for name in size.tests},
        "beam": size.beam,
        "explained": size.explained,
        "pieces": size.pieces,
        "network": size.network.record(),
    }


def titled(settings: Settings) -> Numbers:
    """What all numbers depend on, and what the page calls the pairs."""
    iwslt, multi30k = "iwslt14_en_de", "multi30k_en_de"
    title = "IWSLT14" if Path(settings.data).name == iwslt else corpus_title("Multi30k", settings.data, multi30k)
    return about(settings) | {"title": title}


def pairs_of(folder: str, part: str, most: int | None) -> list[Example]:
    """The first pairs of a part."""
    named = ("train", "dev", "test")
    path, split = (folder, part) if part in named else (str(Path(folder) / f"{part}.jsonl"), "all")
    return load_examples(path, split, "json_lines")[:most]


def _is_wanted(settings: Settings, unit: Unit) -> bool:
    only = settings.own["only"]
    return only is None or unit.about["variant"] in only.split(",")


def _trained(settings: Settings, variant: str, seed: int, share: Share) -> Numbers:
    """Train a translator, translate the tests, and count its spans."""
    began, size = time.perf_counter(), settings.size
    plan, penalties = VARIANTS[variant]
    plan = TranslatorPlan(plan.pooler, plan.spans, size.network, size.pieces)
    recipe = TranslationRecipe(epochs=size.epochs, penalties=penalties, seed=seed)
    folder = settings.work / f"{settings.size_name}-{variant}-{seed}"
    parts = {
        "train": pairs_of(settings.data, "train", size.n_train),
        "dev": pairs_of(settings.data, "dev", size.n_test),
    }
    trained = train_translator(
        parts,
        plan,
        recipe,
        folder,
        settings.device,
        progress=lambda _, done, total: share(0.8 * done / total),
    )
    seconds = time.perf_counter() - began
    return {
        "variant": variant,
        "seed": seed,
        "history": trained.trained["history"],
        "seconds": seconds,
        "tests": {
            name: translated(folder, settings.device, pairs_of(settings.data, name, size.n_test), size.beam)
            for name in size.tests
        },
        "spans": carried_numbers(folder, settings.device, parts["dev"][: size.explained]),
    }
