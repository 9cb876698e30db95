"""Do explanations agree across trainings and across data sets, and does agreement say that they are right?

After Wu and Ong (2021), "On Explaining Your Explanations of BERT: An Empirical Study with Sequence Classification",
Table 1 and Figure 3: the correlation of words' scores under two trainings that differ in their seed alone, over word
types as in the released code and over tokens (corrections.md A2.11), and under models of different data sets. Random
scores take part: they ignore the model.

    python -m studies s2_agreement --data FOLDER --work work/s2 --out studies/s2_agreement --processes 2

FOLDER and WORK are those of s2_models, whose models are explained; missing ones are trained first. The explanations
stay in WORK/explained, where s2_words finds them. Finished units are kept. `--size tiny --data pocket` takes seconds.
"""

import time
from collections.abc import Mapping
from dataclasses import asdict
from functools import partial
from itertools import combinations

from pellucid.base.kinds import checks
from pellucid.base.processes import Share
from pellucid.comparison.checks.agreement import agreement_lines
from pellucid.results.interval import CheckLine
from studies.s2_agreement.explained import (
    SIZES,
    check_case,
    explained,
    explained_about,
    explained_texts,
    names_of,
)
from studies.s2_agreement.numbers import OVER, summarise
from studies.s2_agreement.page import as_page
from studies.s2_agreement.picture import grid_picture
from studies.s2_models.study import FOLDERS
from studies.s2_models.tasks import SIZES as MODEL_SIZES
from studies.s2_models.tasks import title_of
from studies.s2_models.trained_models import PHRASES
from studies.shared.options import DEVICE, ENCODER, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit

CORPORA = checks.get("corpus_agreement")


@studies.add()
def s2_agreement() -> Study:
    """Do explanations agree across trainings and data sets? Table 1 and figure 3 of Wu and Ong (2021)."""
    return Study(
        sizes=SIZES,
        options=(FOLDERS, WORK, ENCODER, PHRASES, DEVICE, FINISHED),
        work=UnitStages({"explaining": explaining_units, "agreement": agreement_units}),
        summary=lambda settings, records: summarise(about(settings), records),
        page=lambda settings, numbers: as_page(numbers),
        pictures={"corpora.svg": lambda settings, numbers: grid_picture(numbers)},
    )


def explaining_units(settings: Settings, records: Records) -> list[Unit]:
    """The explanations of each data set under the model of each seed."""
    return [
        Unit(
            f"explained-{task}-{seed}",
            explained_about(settings, task) | {"seed": seed},
            partial(_explain, settings, task, seed),
            settings.encoder,
            device=settings.device,
        )
        for seed in range(seeds_of(settings))
        for task in settings.size.texts
    ]


def agreement_units(settings: Settings, records: Records) -> list[Unit]:
    """Each two seeds of a data set, and all data sets under the models of one seed."""
    pairs = [
        _unit(settings, f"seeds-{task}-{one}-{other}", (task,), partial(_seeds, settings, task, one, other))
        for task in settings.size.texts
        for one, other in combinations(range(seeds_of(settings)), 2)
    ]
    grids = [
        _unit(settings, f"corpora-{seed}", tuple(settings.size.texts), partial(_corpora, settings, seed))
        for seed in range(seeds_of(settings))
    ]
    return [*pairs, *grids]


def seeds_of(settings: Settings) -> int:
    """How many trainings each data set has."""
    return MODEL_SIZES[settings.size_name].seeds


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    tasks = {
        task: {"title": title_of(task, settings.data), "n_texts": len(explained_texts(settings, task))}
        for task in settings.size.texts
    }
    return {"tasks": tasks, "seeds": seeds_of(settings), "resamples": settings.size.resamples}


def _unit(settings: Settings, name: str, tasks: tuple[str, ...], work: "partial[Numbers]") -> Unit:
    depends = {task: explained_about(settings, task) for task in tasks}
    return Unit(name, {"of": depends, "resamples": settings.size.resamples}, work, settings.encoder)


def _explain(settings: Settings, task: str, seed: int, share: Share) -> Numbers:
    began = time.perf_counter()
    texts = explained(settings, task, seed, share)
    words = sum(len(text.words) for text in next(iter(texts.values())))
    return {"task": task, "seed": seed, "words": words, "seconds": time.perf_counter() - began}


def _seeds(settings: Settings, task: str, one: int, other: int, share: Share) -> Numbers:
    """lines: over -> method -> the correlation with its interval over texts. left_out: texts with another answer."""
    case, twin = check_case(settings, task, one), explained(settings, task, other)
    names, lines, left_out = names_of(case.methods), {}, 0
    for number, over in enumerate(OVER):
        of_over, left_out = agreement_lines(case, twin, f"seed {other}", over)
        lines[over] = {names[line.method]: _record(line) for line in of_over}
        share((number + 1) / len(OVER))
    return {"task": task, "seeds": [one, other], "lines": lines, "left_out": left_out}


def _corpora(settings: Settings, seed: int, share: Share) -> Numbers:
    """grid: method -> a pair of data sets, "sst5 imdb" -> the correlation over common words with its interval over
    texts.
    """
    first, *others = settings.size.texts
    corpora = {task: explained(settings, task, seed) for task in others}
    case = check_case(settings, first, seed, corpora)
    names = names_of(case.methods)
    grid: dict[str, dict[str, Mapping[str, object]]] = {}
    for line in CORPORA.make(case).lines:
        pair = line.beside.replace("these texts", first).replace(" and ", " ")
        grid.setdefault(names[line.method], {})[pair] = _record(line)
    share(1.0)
    return {"seed": seed, "grid": grid}


def _record(line: CheckLine) -> Numbers:
    return {**asdict(line.value), "n": line.n}
