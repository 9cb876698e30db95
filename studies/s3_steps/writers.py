"""Translators that reverse strings: at each step, which source letter does each method give the most?

The same question as of the states, asked of models that write: a Transformer and LSTMs with attention, both with spans
of their source. A letter is a word, and the source word that a step is linked to is the mirrored one.
"""

from dataclasses import asdict, dataclass
from functools import partial

import pellucid
from pellucid.base.processes import Share
from pellucid.models.load import wrap_writing
from pellucid.models.translation.untrained_network import LstmSettings, NetworkSettings
from pellucid.models.writing.writing_model import WritingModel
from pellucid.text.example import Example
from pellucid.writing.links import linked_words
from pellucid.writing.train_translator import train_translator
from pellucid.writing.translator_plan import TranslationRecipe, TranslatorPlan
from studies.s3_steps.training import strings
from studies.shared.study import Records, Settings
from studies.shared.units import Numbers, Unit
from studies.translation_links.judging import SETTINGS, judged

PIECES = 320  # letters and bytes; there is nothing to merge
SHOWN = "span_attention"  # its map of one string stands on the page


@dataclass(frozen=True)
class WriterSize:
    """How much is trained and explained. strings: to learn from, of shortest to longest letters. explained: held-out
    strings, of so many letters."""

    networks: dict[str, NetworkSettings | LstmSettings]
    strings: int
    epochs: int
    explained: int
    letters: int
    shortest: int
    longest: int
    seeds: int
    entropy: float = 0.05


SIZES = {
    "small": WriterSize(
        {"Transformer": NetworkSettings(1, 64, 4, dropout=0.0), "LSTM": LstmSettings(2, 64, 0.0)},
        *(4000, 15, 20, 8, 4, 10, 3),
    ),
    "tiny": WriterSize(
        {"Transformer": NetworkSettings(1, 16, 2, dropout=0.0), "LSTM": LstmSettings(1, 16, 0.0)},
        *(40, 1, 2, 4, 3, 5, 2),
    ),
}


def writer_units(settings: Settings, records: Records) -> list[Unit]:
    """A training of each network with each seed, and its steps explained."""
    size = SIZES[settings.size_name]
    about = {name: value for name, value in asdict(size).items() if name != "networks"} | {"methods": SETTINGS}
    return [
        Unit(
            f"writer-{name}-{seed}",
            about | {"network": name, "sizes": network.record(), "seed": seed},
            partial(_measured, settings, name, seed),
        )
        for name, network in size.networks.items()
        for seed in range(size.seeds)
    ]


def reversal(string: str) -> Example:
    """The letters of a string as words, and the same turned round."""
    return Example((" ".join(string), " ".join(reversed(string))), id=string)


def _strings(size: WriterSize, count: int, seed: int, *, held_out: bool, letters: int = 0) -> list[Example]:
    shortest, longest = (letters, letters) if letters else (size.shortest, size.longest)
    drawn = strings(count, seed, held_out=held_out, shortest=shortest, longest=longest)
    return [reversal(string) for string in dict.fromkeys(drawn)]


def _measured(settings: Settings, name: str, seed: int, share: Share) -> Numbers:
    """Train a writer, or load a finished one; how many strings it reverses, and every method's steps."""
    size = SIZES[settings.size_name]
    model = _trained(settings, name, seed, share)
    pairs = _strings(size, size.explained, 1, held_out=True, letters=size.letters)
    sources = [Example((pair.segments[0],), id=pair.id) for pair in pairs]
    texts = [one.text for one in pellucid.write(model, sources, beam=1, progress=False)]
    share(0.85)
    mirrored = frozenset((size.letters - 1 - step, step) for step in range(size.letters))
    (first,) = pellucid.explain(model, pairs[:1], SHOWN, progress=False, random_spans=0)
    return {
        "network": name,
        "seed": seed,
        "right": sum(text == pair.segments[1] for text, pair in zip(texts, pairs, strict=True)) / len(pairs),
        "string": pairs[0].segments[0],
        "map": linked_words(first).tolist(),
        **judged(model, pairs, [mirrored] * len(pairs)),
    }


def _trained(settings: Settings, name: str, seed: int, share: Share) -> WritingModel:
    size = SIZES[settings.size_name]
    recipe = TranslationRecipe(
        epochs=size.epochs,
        batch_pieces=1500,
        warmup_steps=100,
        averaged=1,
        penalties={"entropy": size.entropy},
        seed=seed,
    )
    train = _strings(size, size.strings, 2, held_out=False)
    dev = _strings(size, max(2, size.strings // 20), 3, held_out=True)
    parts = train_translator(
        {"train": train, "dev": dev},
        TranslatorPlan(network=size.networks[name], pieces=PIECES),
        recipe,
        settings.work / f"{settings.size_name}-writer-{name}-{seed}",
        "cpu",
        progress=lambda _, done, total: share(0.7 * done / total),
    )
    return wrap_writing(parts.network, parts.tokenizer, f"{name}-{seed}")
