"""Does dot attention stay uniform when its query begins as a linear layer's weights do? Entropy of its weights over
training.

After Tutek and Šnajder (2020), "Staying True to Your Word: (How) Can Attention Become Explanation?", appendix C. The
same BiLSTM is trained with a query drawn from N(0, 1) and with one of the default start, whose deviation is 1 / sqrt(3
width), and watched.

    python -m studies s4_start --task sst2 --data FOLDER --work work/s4_start --out studies/s4_start

FOLDER holds train, dev and test as JSON lines. Finished trainings are kept and not made again. `--size tiny --task
pocket --data pocket` takes seconds, the size small about eight minutes of one core.
"""

import math
import shutil
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

from pellucid.base.processes import Share
from pellucid.results.explanation import Explanation
from pellucid.training.trained_folder import TrainedFolder
from pellucid.training.watch import FOLDER, Watch
from studies.s3_training.study import looks_in
from studies.s4_fragility.tasks import TASKS, CorpusSize, corpus_numbers, corpus_size, labelled_parts, title_of
from studies.s4_fragility.trainings import Lesson, model_folder, trained, training_about
from studies.s4_start.page import as_page, as_picture
from studies.s4_start.summary import DEFAULT, NORMAL, SCALED, summarise
from studies.shared.attention_models import GLOVE_SCALE, AttentionModel
from studies.shared.options import DATA, DEVICE, FINISHED, WORK, Option
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

METHOD = "unit_attention"


@dataclass(frozen=True)
class StartSize:
    """corpora: how much of each. every: steps from look to look. watched: dev texts. width: of random vectors; None:
    MiniLM's.
    """

    corpora: Mapping[str, CorpusSize]
    every: int
    watched: int
    width: int | None = None


SIZES = {
    "tiny": StartSize({"pocket": CorpusSize(24, 12, 12, 1, 2, 12, 8)}, 2, 5, 8),
    "small": StartSize({"sst2": CorpusSize(4_000, 872, 1_821, 4, 3)}, 50, 100),
}
MODELS = {
    NORMAL: AttentionModel("dot", "base"),
    DEFAULT: AttentionModel("dot", "base", query_start="default"),
    SCALED: AttentionModel("dot", "base", vector_scale=GLOVE_SCALE),
}
TASK = Option("--task", {"choices": ["pocket", "sst2"], "required": True})


@studies.add()
def s4_start() -> Study:
    """Does dot attention stay uniform from the default start of its query? Appendix C of Tutek and Šnajder (2020)."""
    return Study(
        sizes=SIZES,
        options=(TASK, DATA, WORK, DEVICE, FINISHED),
        work=UnitStages({"trainings": training_units}),
        summary=lambda settings, records: summarise(about(settings), list(records["trainings"].values())),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"start.svg": lambda settings, numbers: as_picture(numbers)},
    )


def training_units(settings: Settings, records: Records) -> list[Unit]:
    """A watched training of each start with each seed."""
    lesson, watched = lesson_of(settings), {"every": settings.size.every, "watched": settings.size.watched}
    return [
        Unit(
            f"{start}-{seed}",
            training_about(model, seed, lesson) | watched,
            partial(_watched, settings, start, seed, lesson),
            precision="float32",
            device=settings.device,
        )
        for seed in range(_corpus(settings).seeds)
        for start, model in MODELS.items()
    ]


def lesson_of(settings: Settings) -> Lesson:
    """What the models learn."""
    task, corpus = settings.own["task"], _corpus(settings)
    parts = labelled_parts(task, settings.data, corpus)
    return Lesson(parts, TASKS[task].labels, corpus.epochs, corpus.batch_size, settings.size.width)


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    size = settings.size
    return {
        "task": settings.own["task"],
        "title": title_of(settings.own["task"], settings.data),
        **corpus_numbers(settings.own["task"], settings.data, _corpus(settings)),
        "every": size.every,
        "watched": size.watched,
    }


def _watched(settings: Settings, start: str, seed: int, lesson: Lesson, share: Share) -> Numbers:
    """Train a model while it is watched, and delete it. below: [look text], see `below_uniform`."""
    model = MODELS[start]
    began, folder = time.perf_counter(), model_folder(settings, model, seed)
    watch = Watch(settings.size.every, settings.size.watched, METHOD, layers=(1,), positions="pooled")
    trained(settings, model, seed, lesson, share, watch)
    looks = looks_in(folder / FOLDER)
    numbers = {
        "start": start,
        "seed": seed,
        "steps": list(looks),
        "below": [[below_uniform(one) for one in look if len(one.units) > 1] for look in looks.values()],
        "history": TrainedFolder(folder).history,
        "seconds": time.perf_counter() - began,
    }
    shutil.rmtree(folder)
    return numbers


def below_uniform(explanation: Explanation) -> float:
    """log T - entropy of the weights of a text's T units, in nats: 0 of equal weights, log T of one alone."""
    count = len(explanation.units.content)
    return max(0.0, math.log(count) - math.log(explanation.diagnostics["entropy_units"]))


def _corpus(settings: Settings) -> CorpusSize:
    return corpus_size(settings.own["task"], SIZES, settings.size_name)
