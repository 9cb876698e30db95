"""Can a new model give the same answers with weights that lie elsewhere? Adversaries that imitate models of attention.

After Tutek and Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become Explanation?", figure 1, and
Wiegreffe and Pinter (2019), "Attention is not not Explanation". For each λ a new model is trained to answer as a
trained one does while its weights move away: the distance of the answers less λ times the divergence of the weights.
The imitated models are plain, with states tied to word vectors, and with masked words, all with additive attention.

    python -m studies s4_adversary --task sst2 --choice studies/s4_fragility/sst2 --data FOLDER --work work/s4/sst2 \\
        --out studies/s4_adversary

FOLDER holds train, dev and test as JSON lines. --choice is the folder of s4_fragility whose weights are used; without
it they are 1. Models that `s4_fragility --keep-models` left in --work are imitated, others are trained there first.
Finished work is kept and not done again. The size small takes about 20 minutes of one core; `--size tiny --task pocket
--data pocket` takes seconds.
"""

from dataclasses import asdict, dataclass

from studies.s4_adversary.page import as_page, as_picture
from studies.s4_adversary.summary import summarise
from studies.s4_adversary.units import imitation_unit
from studies.s4_fragility.choice import CHOICE, weights_or_usual
from studies.s4_fragility.tasks import SIZES as FRAGILITY
from studies.s4_fragility.tasks import TASKS, CorpusSize, corpus_size, labelled_parts, title_of
from studies.s4_fragility.trainings import KEEP_MODELS, Lesson
from studies.shared.attention_models import AttentionModel
from studies.shared.options import DATA, DEVICE, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

VARIANTS = ("base", "tying", "masked_words")


@dataclass(frozen=True)
class AdversarySize:
    """divergence_weights: the λs, from small ones, where plain models' weights already move far, to one that pays any
    price. train, epochs: what an adversary learns from, the first of the imitated model's texts.
    """

    divergence_weights: tuple[float, ...]
    train: int
    epochs: int
    seeds: int


SIZES = {
    "tiny": AdversarySize((0.0, 1.0), 12, 1, 2),
    "small": AdversarySize((0.0, 0.01, 0.1, 1.0), 2_000, 3, 3),
}
TASK = Option("--task", {"choices": ["pocket", "sst2"], "required": True})


@studies.add()
def s4_adversary() -> Study:
    """How far can weights of a new model lie while it answers alike? Figure 1 of Tutek and Šnajder (2020)."""
    return Study(
        sizes=SIZES,
        options=(TASK, DATA, WORK, CHOICE, KEEP_MODELS, DEVICE, FINISHED),
        work=UnitStages({"imitations": imitation_units}),
        summary=lambda settings, records: summarise(about(settings), list(records["imitations"].values())),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"adversary.svg": lambda settings, numbers: as_picture(numbers)},
    )


def imitation_units(settings: Settings, records: Records) -> list[Unit]:
    """The whole curve of each model with each seed, seed by seed."""
    weights = weights_or_usual(settings.own["choice"])
    return [
        imitation_unit(
            settings,
            AttentionModel("additive", variant, weights.get(variant, 0.0)),
            seed,
            lesson_of(settings),
        )
        for seed in range(settings.size.seeds)
        for variant in VARIANTS
    ]


def lesson_of(settings: Settings) -> Lesson:
    """What the imitated models learn: the same as in s4_fragility, so that its models serve."""
    task, corpus = settings.own["task"], _corpus(settings)
    parts = labelled_parts(task, settings.data, corpus)
    return Lesson(parts, TASKS[task].labels, corpus.epochs, corpus.batch_size, FRAGILITY[settings.size_name].width)


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    parts = labelled_parts(settings.own["task"], settings.data, _corpus(settings))
    return {
        "task": settings.own["task"],
        "title": title_of(settings.own["task"], settings.data),
        "variants": list(VARIANTS),
        **asdict(settings.size),
        **{f"n_{split}": len(texts) for split, texts in parts.items()},
        "weights": weights_or_usual(settings.own["choice"]),
        "own_weights": not settings.own["choice"],
    }


def _corpus(settings: Settings) -> CorpusSize:
    return corpus_size(settings.own["task"], FRAGILITY, settings.size_name)
