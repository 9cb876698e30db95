"""Does `pellucid.shortcuts` name a planted word, and is it silent where none was planted?

The word "zx" stands at the end of a share of one class's train and test texts and of no others: 60 %, 90 %, or none.
A model is trained on these texts, and `pellucid.shortcuts` is asked about test texts with the same share. A row is a
kind of model on a corpus at a share; a seed is another draw of texts, of planted texts, and another training.

    python -m studies planted_shortcuts --data FOLDER --work work/planted_shortcuts --out studies/planted_shortcuts

FOLDER holds sst2, ag_news, trec and others as folders of train and test. Finished units are kept and not done again.
`--size tiny --data pocket` takes seconds.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, partial
from random import Random

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import pellucid
from pellucid.base.processes import Share
from pellucid.data.load import load_examples
from pellucid.data.plant import with_shortcut
from pellucid.models.composed.networks import Plan
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from studies.planted_shortcuts.page import as_page, summarise
from studies.shared.data_folders import source_of
from studies.shared.options import DATA, ENCODER, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest

WORD = "zx"
LINEAR, CNN, LSTM, PRETRAINED = "words", "cnn", "bilstm", "minilm"
SMALL: dict[str, dict[str, object]] = {CNN: {"filters": 50}, LSTM: {"width": 100}}  # of networks
POOLERS = {CNN: "maximum", LSTM: "maximum", PRETRAINED: "first_token"}


@dataclass(frozen=True)
class ShortcutRow:
    """A row of the table. model: its kind. task: the corpus. share: of the class's texts that have the word. seeds: how
    many. train, test: texts.
    """

    model: str
    task: str
    share: float
    seeds: int
    train: int = 3000
    test: int = 400
    epochs: int = 4


SHARES = (0.0, 0.6, 0.9)
SIZES = {
    "tiny": tuple(ShortcutRow(model, "pocket", 0.9, 2, 60, 60, 1) for model in (LINEAR, CNN)),
    "small": (
        *(ShortcutRow(LINEAR, "sst2", share, 20) for share in SHARES),
        *(ShortcutRow(LINEAR, "ag_news", share, 10) for share in SHARES),
        *(ShortcutRow(LINEAR, "newsgroups_sports", share, 10) for share in SHARES),
        *(ShortcutRow(LINEAR, task, 0.0, 10) for task in ("imdb", "tweet_sentiment_extraction", "pocket")),
        *(ShortcutRow(LINEAR, "trec", share, 10) for share in SHARES),
        *(ShortcutRow(CNN, "sst2", share, 10, 1000, epochs=3) for share in SHARES),
        *(ShortcutRow(LSTM, "sst2", share, 1, 1000, epochs=3) for share in SHARES),
        *(ShortcutRow(PRETRAINED, "sst2", share, 1, 1000, epochs=2) for share in SHARES),
    ),
}


@studies.add()
def planted_shortcuts() -> Study:
    """Is a planted word named, and nothing where no word was planted?"""
    return Study(
        sizes=SIZES,
        options=(DATA, WORK, ENCODER, FINISHED),
        work=UnitStages({"models": units_of_models}),
        summary=lambda settings, records: summarise(list(records["models"].values()), WORD),
        page=lambda settings, numbers: as_page(numbers),
    )


def units_of_models(settings: Settings, records: Records) -> list[Unit]:
    """One unit a model."""
    return [
        Unit(
            f"{row.model}-{row.task}-{round(100 * row.share)}-{seed}",
            {**asdict(row), "seed": seed, "word": WORD, "texts": _digest(source_of(row.task, settings.data))},
            partial(_measured, settings, row, seed),
            settings.encoder if row.model == PRETRAINED else None,
        )
        for row in settings.size
        for seed in range(row.seeds)
    ]


@cache
def _digest(source: str) -> str:
    """Of all train and test texts of a corpus."""
    return text_digest({part: load_examples(source, part) for part in ("train", "test")})


def _measured(settings: Settings, row: ShortcutRow, seed: int, share: Share) -> Numbers:
    """What is named of one model, and how often it is right."""
    train, test, label = _texts(settings, row, seed)
    model = _linear(train) if row.model == LINEAR else _network(settings, row, seed, train, share)
    share(0.8)
    shortcuts = pellucid.shortcuts(model, test, seed=seed, progress=False)
    fields = ("cause", "words", "label", "n", "holding", "turned", "matched", "p", "decides")
    return {
        **{name: getattr(row, name) for name in ("model", "task", "share")},
        "seed": seed,
        "label": label,
        "accuracy": pellucid.accuracy(model, test).mean,
        "passes": shortcuts.passes,
        "tested": [{name: _plain(getattr(one, name)) for name in fields} for one in shortcuts.tested],
        "associations": [str(association) for association in shortcuts.associations],
    }


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def _texts(settings: Settings, row: ShortcutRow, seed: int) -> tuple[list[Example], list[Example], str]:
    """Train and test texts, and the class whose texts have the word: the last one by name."""
    parts = []
    for part, n in (("train", row.train), ("test", row.test)):
        texts = load_examples(source_of(row.task, settings.data), part)
        parts.append(Random(f"{seed} {part}").sample(texts, min(n, len(texts))))
    label = max(str(example.label) for example in parts[0])
    train, test = (with_shortcut(texts, WORD, label, row.share, seed=seed) for texts in parts)
    return train, test, label


def _linear(train: Sequence[Example]) -> Model:
    pipeline = make_pipeline(CountVectorizer(token_pattern=r"(?u)\S+"), LogisticRegression(max_iter=500))
    fitted = pipeline.fit([example.text for example in train], [str(example.label) for example in train])
    model: Model = pellucid.from_pipeline(fitted)
    return model


def _network(settings: Settings, row: ShortcutRow, seed: int, train: Sequence[Example], share: Share) -> Model:
    """A network; the last tenth of its texts chooses the epoch."""
    cut = len(train) - len(train) // 10
    encoder = settings.encoder if row.model == PRETRAINED else row.model
    labels = tuple(sorted({str(example.label) for example in train}))
    recipe = Recipe(
        seed=seed, epochs=row.epochs, batch_size=16, learning_rate=1e-4 if row.model == PRETRAINED else 1e-3
    )
    return train_model(
        {"train": train[:cut], "dev": train[cut:]},
        Plan(encoder, POOLERS[row.model], {}, labels, encoder_settings=SMALL.get(row.model, {})),
        replace(recipe, new_parts_factor=2.0) if row.model == PRETRAINED else recipe,
        settings.work / f"{row.model}-{row.task}-{round(100 * row.share)}-{seed}",
        "cpu",
        progress=lambda _, done, total: share(0.7 * done / total),
    )
