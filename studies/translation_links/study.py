"""Links: which explanations of a translator find the source word that each written word comes from?

Translators with spans of their source (Sun et al. 2020; docs/papers/corrections.md A0.16) learn `planted_translation`,
where the true links of words are known. Every method that the model allows explains each word of the test pairs, and
its best source word is compared with the links, beside the word at the same relative place and a word at random.
Several trainings, the same pairs.

    python -m studies translation_links --work work/translation_links --out studies/translation_links

--pairs FOLDER (train, dev and test as JSON lines with the fields en and de) and --links FILE (silver links of the test
pairs, as `pellucid links` writes them) judge a pair of real languages too. Finished trainings are kept and not made
again.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from functools import partial

import pellucid
from pellucid.base.processes import Share
from pellucid.models.load import wrap_writing
from pellucid.models.translation.untrained_network import NetworkSettings
from pellucid.models.writing.writing_model import WritingModel
from pellucid.text.example import Example
from pellucid.writing.train_translator import train_translator
from pellucid.writing.translator_plan import TranslationRecipe, TranslatorPlan
from studies.shared.options import FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest
from studies.translation_links.corpora import PLANTED, SILVER, LinkedPairs, corpora_of
from studies.translation_links.judging import SETTINGS, judged
from studies.translation_links.page import as_page, as_picture
from studies.translation_links.summary import summarise

PAIRS = Option("--pairs", {"help": "folder with train, dev and test as JSON lines, for silver links"})
LINKS = Option("--links", {"help": "file with a line of links for each of its test pairs"})
WRITTEN = 100  # test pairs that are translated, for BLEU


@dataclass(frozen=True)
class TranslatorTraining:
    """A translator's plan and recipe."""

    network: NetworkSettings
    pieces: int
    epochs: int
    batch_pieces: int
    learning_rate: float = 2e-3
    warmup_steps: int = 100
    averaged: int = 1
    entropy: float = 0.0


@dataclass(frozen=True)
class LinksSize:
    """n_train: planted pairs to learn from; None: all. n_test: pairs that are explained. trainings: those of each
    corpus.
    """

    seeds: int
    n_train: int | None
    n_test: int
    trainings: Mapping[str, TranslatorTraining] = field(default_factory=dict)


SMALL = {
    PLANTED: TranslatorTraining(NetworkSettings(1, 128, 4, dropout=0.0), 600, 18, 1500, averaged=3, entropy=0.02),
    SILVER: TranslatorTraining(NetworkSettings(), 6000, 7, 2000, warmup_steps=400, averaged=3),
}
FEW = TranslatorTraining(NetworkSettings(1, 16, 2), 320, 1, 400)
SIZES = {
    "tiny": LinksSize(2, 30, 3, {PLANTED: FEW, SILVER: FEW}),
    "small": LinksSize(3, None, 100, SMALL),
}


@studies.add()
def translation_links() -> Study:
    """Which explanations of a translator find the source word that each written word comes from?"""
    return Study(
        sizes=SIZES,
        options=(WORK, PAIRS, LINKS, FINISHED),
        work=UnitStages({"trainings": units}),
        summary=lambda settings, records: summarise(list(records["trainings"].values()), settings.size.seeds),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"links.svg": lambda settings, numbers: as_picture(numbers)},
    )


def units(settings: Settings, records: Records) -> list[Unit]:
    """A training of each corpus with each seed, and all methods on its test pairs."""
    size = settings.size
    corpora = corpora_of(settings.own["pairs"], settings.own["links"], size.n_train, size.n_test)
    return [
        Unit(
            f"{name}-{seed}",
            {
                "corpus": name,
                "seed": seed,
                "training": asdict(size.trainings[name]),
                "methods": SETTINGS,
                "texts": text_digest({"train": corpus.train, "dev": corpus.dev, "test": corpus.test}),
                "links": [sorted(map(list, own)) for own in corpus.links],
            },
            partial(measured, settings, name, corpus, seed),
        )
        for name, corpus in corpora.items()
        for seed in range(size.seeds)
    ]


def measured(settings: Settings, name: str, corpus: LinkedPairs, seed: int, share: Share) -> Numbers:
    """Train a translator, or load a finished one, and judge every method by the links of the test pairs."""
    model = _trained(settings, name, corpus, seed, share)
    written = [Example((one.segments[0],), id=one.id) for one in corpus.test[:WRITTEN]]
    texts = [one.text for one in pellucid.write(model, written, beam=1, progress=False)]
    right = sum(text == one.segments[1] for text, one in zip(texts, corpus.test, strict=False))
    share(0.85)
    return {
        "corpus": name,
        "seed": seed,
        "exact": right / len(texts),
        **judged(model, corpus.test, corpus.links),
    }


def _trained(settings: Settings, name: str, corpus: LinkedPairs, seed: int, share: Share) -> WritingModel:
    training: TranslatorTraining = settings.size.trainings[name]
    recipe = TranslationRecipe(
        epochs=training.epochs,
        batch_pieces=training.batch_pieces,
        learning_rate=training.learning_rate,
        warmup_steps=training.warmup_steps,
        averaged=training.averaged,
        penalties={"entropy": training.entropy},
        seed=seed,
    )
    parts = train_translator(
        {"train": corpus.train, "dev": corpus.dev},
        TranslatorPlan(network=training.network, pieces=training.pieces),
        recipe,
        settings.work / f"{settings.size_name}-{name}-{seed}",
        "cpu",
        progress=lambda _, done, total: share(0.7 * done / total),
    )
    return wrap_writing(parts.network, parts.tokenizer, f"{name}-{seed}")
