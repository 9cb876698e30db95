"""Translators of few sentences, a Transformer and LSTMs, each trained once for all tests here."""

import pytest

import pellucid
from pellucid.text.example import Example

SIZES = {"layers": 1, "width": 32, "heads": 2, "dropout": 0.1}
PAIRS = [
    ("a dog runs", "ein Hund rennt"),
    ("a cat runs", "eine Katze rennt"),
    ("a dog sleeps", "ein Hund schläft"),
    ("a cat sleeps", "eine Katze schläft"),
    ("the dog runs on the beach", "der Hund rennt am Strand"),
    ("the cat sleeps on the beach", "die Katze schläft am Strand"),
    ("a man and a dog", "ein Mann und ein Hund"),
    ("a man sees the cat", "ein Mann sieht die Katze"),
]
SETTINGS = {
    "pieces": 320,
    "network_settings": SIZES,
    "precision": "float32",
    "warmup_steps": 20,
    "progress": False,
}
SHORT = SETTINGS | {"epochs": 3, "batch_pieces": 24, "checkpoint_every": 2}
LSTM = {"network": "lstm", "network_settings": {"layers": 2, "width": 32, "dropout": 0.1}}


def parts(count: int = 8) -> dict[str, list[Example]]:
    """The pairs as train and, some of them, as dev."""
    pairs = [Example(pair, id=f"pair-{number}") for number, pair in enumerate(PAIRS[:count])]
    return {"train": pairs, "dev": pairs[:3]}


@pytest.fixture(scope="session")
def learnt(tmp_path_factory):
    """A folder with a translator that knows the pairs by heart."""
    folder = tmp_path_factory.mktemp("translators") / "en-de"
    pellucid.train_translator(parts(), out=folder, epochs=150, batch_pieces=200, **SETTINGS)
    return folder


@pytest.fixture(scope="session")
def learnt_lstm(tmp_path_factory):
    """The same of LSTMs."""
    folder = tmp_path_factory.mktemp("translators") / "lstm"
    recipe = SETTINGS | LSTM | {"epochs": 100, "batch_pieces": 200, "learning_rate": 1e-2}
    pellucid.train_translator(parts(), out=folder, **recipe)
    return folder


@pytest.fixture(scope="session", params=["learnt", "learnt_lstm"])
def either(request):
    """The folder of one, then of the other."""
    return request.getfixturevalue(request.param)
