"""Is attention on a deeper LSTM easier to change? Models of one to three layers, whose weights are changed after
training.

After Tutek and Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become Explanation?", appendix B and
table 6. Additive attention, plain, with word vectors joined to the states, with states tied to word vectors, and with
masked words.

    python -m studies s4_layers --task sst2 --choice studies/s4_fragility/sst2 --data FOLDER --work work/s4_layers \\
        --out studies/s4_layers

FOLDER holds train, dev and test as JSON lines. --choice is the folder of s4_fragility whose weights are used, as in the
paper those of one layer; without it they are 1. Finished trainings are kept and not made again. Texts a second of
a training step on one core with one, two and three layers: 370, 210, 130 (masked words 200 to 70); so the size small
takes about 35 minutes. `--size tiny --task pocket --data pocket` takes seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from studies.s4_fragility.choice import CHOICE, weights_or_usual
from studies.s4_fragility.tasks import TASKS, CorpusSize, corpus_numbers, corpus_size, labelled_parts, title_of
from studies.s4_fragility.trainings import KEEP_MODELS, Lesson, training_unit
from studies.s4_layers.numbers import summarise
from studies.s4_layers.page import as_page, as_picture
from studies.shared.attention_models import AttentionModel
from studies.shared.options import DATA, DEVICE, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

VARIANTS = ("base", "concat", "tying", "masked_words")


@dataclass(frozen=True)
class DepthSize:
    """corpora: how much of each is used. layers: numbers of layers. width: of random word vectors; None: MiniLM's."""

    corpora: Mapping[str, CorpusSize]
    layers: tuple[int, ...] = (1, 2, 3)
    width: int | None = None


SIZES = {
    "tiny": DepthSize({"pocket": CorpusSize(24, 12, 16, 1, 2, 12)}, (1, 2), width=8),
    "small": DepthSize({"sst2": CorpusSize(2_000, 872, 1_821, 4, 3)}),
}
TASK = Option(
    "--task",
    {"choices": sorted({task for size in SIZES.values() for task in size.corpora}), "required": True},
)


@studies.add()
def s4_layers() -> Study:
    """Do weights of attention matter less on a deeper LSTM? Table 6 of Tutek and Šnajder (2020)."""
    return Study(
        sizes=SIZES,
        options=(TASK, DATA, WORK, CHOICE, KEEP_MODELS, DEVICE, FINISHED),
        work=UnitStages({"trainings": training_units}),
        summary=lambda settings, records: summarise(about(settings), list(records["trainings"].values())),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"layers.svg": lambda settings, numbers: as_picture(numbers)},
    )


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """All variants and depths with each seed, seed by seed."""
    lesson, weights = lesson_of(settings), weights_or_usual(settings.own["choice"])
    return [
        training_unit(settings, AttentionModel("additive", variant, weights.get(variant, 0.0), layers), seed, lesson)
        for seed in range(_corpus(settings).seeds)
        for layers in settings.size.layers
        for variant in VARIANTS
    ]


def lesson_of(settings: Settings) -> Lesson:
    """What the models learn."""
    task, corpus = settings.own["task"], _corpus(settings)
    parts = labelled_parts(task, settings.data, corpus)
    return Lesson(parts, TASKS[task].labels, corpus.epochs, corpus.batch_size, settings.size.width)


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    return {
        "task": settings.own["task"],
        "title": title_of(settings.own["task"], settings.data),
        "layers": list(settings.size.layers),
        **corpus_numbers(settings.own["task"], settings.data, _corpus(settings)),
        "weights": weights_or_usual(settings.own["choice"]),
        "own_weights": not settings.own["choice"],
    }


def _corpus(settings: Settings) -> CorpusSize:
    return corpus_size(settings.own["task"], SIZES, settings.size_name)
