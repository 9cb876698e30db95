"""Do the claims about attention hold at every weight of tying and of masked words? No weight is chosen; all are judged.

After Tutek and Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become Explanation?", tables 1, 3 and 4.
The paper lists four weights of tying and five of masked words and does not say which ones its tables have
(corrections.md A4.6). `s4_fragility` takes those of the highest F1 on dev, and these are the weakest. Here each weight
has trainings and verdicts of its own. The loss of masked words is the paper's: summed over a text's hidden words,
without the logarithms of frequencies (corrections.md A4.7). Word vectors begin as large as GloVe's, which the paper
has: over smaller ones dot attention stays uniform (study s4_start).

    python -m studies s4_weights --task sst2 --data FOLDER --work work/s4_weights --out studies/s4_weights/sst2

FOLDER holds train, dev and test as JSON lines. Finished trainings are kept and not made again. The size small takes
about four hours of one core for sst2, dot attention first. `--size tiny --task pocket --data pocket` takes seconds.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from studies.s4_fragility.tasks import (
    PAPER_WEIGHTS,
    TASKS,
    CorpusSize,
    corpus_numbers,
    corpus_size,
    labelled_parts,
    title_of,
)
from studies.s4_fragility.tasks import SIZES as CORPORA
from studies.s4_fragility.trainings import KEEP_MODELS, Lesson, training_unit
from studies.s4_weights.numbers import summarise
from studies.s4_weights.page import as_page
from studies.shared.attention_models import GLOVE_SCALE, AttentionModel
from studies.shared.options import DATA, DEVICE, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit


@dataclass(frozen=True)
class WeightsSize:
    """corpora: how much of each is used. weights: variant -> its weights. poolers: of the models. width: of random word
    vectors; None: MiniLM's.
    """

    corpora: Mapping[str, CorpusSize]
    weights: Mapping[str, tuple[float, ...]]
    poolers: tuple[str, ...] = ("dot", "additive")
    width: int | None = None


SIZES = {
    "tiny": WeightsSize(
        {"pocket": CorpusSize(24, 12, 16, 1, 2, 12)}, {"tying": (1.0, 10.0), "masked_words": (1.0,)}, ("additive",), 8
    ),
    "small": WeightsSize(CORPORA["small"].corpora, PAPER_WEIGHTS),
}
TASK = Option("--task", {"choices": sorted(TASKS), "required": True})


@studies.add()
def s4_weights() -> Study:
    """Do answers depend on attention weights more at every weight of tying and of masked words? Tables 1, 3 and 4 of
    Tutek and Šnajder (2020).
    """
    return Study(
        sizes=SIZES,
        options=(TASK, DATA, WORK, KEEP_MODELS, DEVICE, FINISHED),
        work=UnitStages({"trainings": training_units}),
        summary=lambda settings, records: summarise(about(settings), list(records["trainings"].values())),
        page=lambda settings, numbers: as_page(numbers),
    )


def models_of(settings: Settings) -> list[AttentionModel]:
    """The plain model and every weight of the others, for each kind of attention."""
    return [
        AttentionModel(
            pooler, variant, weight, as_published=variant == "masked_words", vector_scale=_scale(settings.size.width)
        )
        for pooler in settings.size.poolers
        for variant, weights in {"base": (0.0,), **settings.size.weights}.items()
        for weight in weights
    ]


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """All models with each seed, kind of attention by kind and seed by seed, so that a study that is stopped early has
    whole rows.
    """
    task, corpus = settings.own["task"], _corpus(settings)
    parts = labelled_parts(task, settings.data, corpus)
    lesson = Lesson(parts, TASKS[task].labels, corpus.epochs, corpus.batch_size, settings.size.width)
    return [
        training_unit(settings, model, seed, lesson)
        for pooler in settings.size.poolers
        for seed in range(corpus.seeds)
        for model in models_of(settings)
        if model.pooler == pooler
    ]


def _scale(width: int | None) -> float:
    """Of MiniLM's vectors as large as GloVe's; random ones stay."""
    return GLOVE_SCALE if width is None else 1.0


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    return {
        "task": settings.own["task"],
        "title": title_of(settings.own["task"], settings.data),
        **corpus_numbers(settings.own["task"], settings.data, _corpus(settings)),
        "models": [[model.pooler, model.variant, model.weight] for model in models_of(settings)],
    }


def _corpus(settings: Settings) -> CorpusSize:
    return corpus_size(settings.own["task"], SIZES, settings.size_name)
