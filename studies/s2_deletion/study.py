"""Do right answers go when the words go that a method scores highest? Four methods against random words, as they are
and as released.

After Wu and Ong (2021), "On Explaining Your Explanations of BERT: An Empirical Study with Sequence Classification",
Figure 1. Words are deleted, or written over with padding as in the released code (corrections.md A2.9), from texts that
are answered right at first. Beside the corrected methods stand those of the released code, which explain the last class
for every text (A2.1), and two variants of LRP.

    python -m studies s2_deletion --data FOLDER --work work/s2 --out studies/s2_deletion --processes 2

FOLDER and WORK are those of s2_models, whose models are explained; missing ones are trained first. Finished units are
kept and not done again. `--size tiny --data pocket` takes seconds.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial

import numpy as np

from pellucid.base.processes import Share
from pellucid.comparison.compared_part import compared_part
from pellucid.comparison.comparison import Comparison, metric_calls
from pellucid.comparison.judged_part import joined
from pellucid.run.explaining import Request, method_calls
from pellucid.run.model import Model
from pellucid.run.target import Target, TargetName
from pellucid.text.example import Example
from studies.s2_deletion.methods import CHANCE, PAPER, RELEASED, VARIANTS, Methods, released
from studies.s2_deletion.numbers import summarise
from studies.s2_deletion.page import as_page, as_picture
from studies.s2_models.study import FOLDERS
from studies.s2_models.tasks import SIZES as MODEL_SIZES
from studies.s2_models.tasks import TASKS, labels_of, texts_longer_than, title_of
from studies.s2_models.trained_models import PHRASES, parts_of, trained, training_about
from studies.s3_accuracy.models import PRETRAINED
from studies.shared.equal_scores import EqualScores
from studies.shared.options import DEVICE, ENCODER, FINISHED, WORK
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest

OPERATORS: tuple[str, ...] = ("delete", "pad")


@dataclass(frozen=True)
class DeletionSize:
    """texts: data set -> texts that are explained, at most. most: words taken out. draws: of random words, at most
    9.
    """

    texts: Mapping[str, int]
    most: int = 10
    draws: int = 3


SIZES = {
    "tiny": DeletionSize({"sst5": 4}, most=2, draws=2),
    "small": DeletionSize({"sst5": 300, "semeval": 150, "imdb": 40, "yelp5": 40}),
    "paper": DeletionSize(dict.fromkeys(TASKS, 1_000), draws=9),
}


@studies.add()
def s2_deletion() -> Study:
    """Do right answers go with the words that gradients, relevance and attention score highest? Figure 1 of Wu and Ong
    (2021).
    """
    return Study(
        sizes=SIZES,
        options=(FOLDERS, WORK, ENCODER, PHRASES, DEVICE, FINISHED),
        work=UnitStages({"models": model_units, "deletion": deletion_units}),
        summary=lambda settings, records: summarise(about(settings), records),
        page=lambda settings, numbers: as_page(numbers),
        pictures={f"{task}.svg": partial(_picture, task) for task in SIZES["small"].texts},
        equal_scores=EqualScores(
            "deletion took equal scores in reading order",
            "Its methods seldom give two words the same score, so little should change.",
            stage="deletion",
        ),
    )


def model_units(settings: Settings, records: Records) -> list[Unit]:
    """The explained models, where s2_models has not left them: before the rest, since two units explain the same
    model.
    """
    return [
        Unit(
            f"{task}-model-{seed}",
            {"training": training_about(settings, task, PRETRAINED), "seed": seed},
            partial(_model, settings, task, seed),
            settings.encoder,
            device=settings.device,
        )
        for seed in range(MODEL_SIZES[settings.size_name].seeds)
        for task in settings.size.texts
    ]


def deletion_units(settings: Settings, records: Records) -> list[Unit]:
    """The corrected methods and the released ones on each data set, seed by seed."""
    return [
        Unit(
            f"{task}-{group}-{seed}",
            _about(settings, task) | {"group": group, "seed": seed},
            partial(_measure, settings, task, group, seed),
            settings.encoder,
            device=settings.device,
        )
        for seed in range(MODEL_SIZES[settings.size_name].seeds)
        for task in settings.size.texts
        for group in ("corrected", "released")
    ]


def explained_texts(settings: Settings, task: str) -> list[Example]:
    """The judged texts: of the test part those with more words than are taken out, with the smallest digests first."""
    texts = texts_longer_than(parts_of(settings, task)["test"], settings.size.most)
    return texts[: settings.size.texts[task]]


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    tasks = {
        task: {
            "title": title_of(task, settings.data),
            "n_texts": len(explained_texts(settings, task)),
            "last_class": labels_of(task, settings.data)[-1],
        }
        for task in settings.size.texts
    }
    size = asdict(settings.size) | {"texts": None}
    return {**size, "tasks": tasks, "seeds": MODEL_SIZES[settings.size_name].seeds}


def _about(settings: Settings, task: str) -> Numbers:
    texts = text_digest({"explained": explained_texts(settings, task)})
    size = {"most": settings.size.most, "draws": settings.size.draws}
    return {"training": training_about(settings, task, PRETRAINED), "explained": texts, **size}


def _model(settings: Settings, task: str, seed: int, share: Share) -> Numbers:
    return {"digest": trained(settings, task, seed, PRETRAINED, share).hash}


def _measure(settings: Settings, task: str, group: str, seed: int, share: Share) -> Numbers:
    """right: operator -> method -> for each text how many draws of 1 are right without 0, 1, 2 ... words, a digit each;
    "" for a text that is answered wrongly at first. The released code writes padding over words, and has no random
    words of its own.
    """
    began = time.perf_counter()
    model = trained(settings, task, seed)
    texts, size = explained_texts(settings, task), settings.size
    random_words: Methods = {CHANCE: (CHANCE, {"n_draws": size.draws})}
    if group == "corrected":
        methods, target, operators = {**PAPER, **VARIANTS, **random_words}, "predicted", OPERATORS
    else:
        methods, target, operators = dict(RELEASED), labels_of(task, settings.data)[-1], OPERATORS[1:]
    curves = right_answers(model, texts, methods, target, operators, size.most, share)
    named = {
        operator: {name if group == "corrected" else released(name): of_method for name, of_method in of.items()}
        for operator, of in curves.items()
    }
    right = {
        operator: {
            name: [digits(curve, size.draws if name == CHANCE else 1) for curve in of_method]
            for name, of_method in of.items()
        }
        for operator, of in named.items()
    }
    return {"task": task, "seed": seed, "right": right, "seconds": time.perf_counter() - began}


def right_answers(
    model: Model,
    texts: Sequence[Example],
    methods: Methods,
    target: TargetName,
    operators: Sequence[str],
    most: int,
    share: Share,
) -> dict[str, dict[str, np.ndarray]]:
    """operator -> method -> [text point]: the share of draws that are right without 0 ... `most` words; nan where not
    judged.
    """
    calls = method_calls(list(methods.values()), model)
    names = {call.title: name for call, name in zip(calls, methods, strict=True)}
    judges = metric_calls([("deletion", {"operator": one, "reference": "gold", "most": most}) for one in operators])
    by_title = dict(zip([call.title for call in judges], operators, strict=True))
    comparison = Comparison(Request(model, calls, Target(target), 0), tuple(texts), judges, 10)
    parts = []
    for number in range(comparison.n_parts):
        parts.append(compared_part(comparison, number, lambda *_: None).judged)
        share((number + 1) / comparison.n_parts)
    curves: dict[str, dict[str, np.ndarray]] = {operator: {} for operator in operators}
    for (method, metric), values in joined(parts).values.items():
        assert values.curve is not None  # deletion has one
        curves[by_title[metric]][names[method]] = values.curve
    return curves


def digits(curve: np.ndarray, draws: int) -> str:
    """[point] -> how many draws are right at each point, a digit each; "" for a text that was not judged."""
    if np.isnan(curve).any():
        return ""
    return "".join(str(round(draws * value)) for value in curve.tolist())


def _picture(task: str, settings: Settings, numbers: Numbers) -> str:
    return as_picture(numbers, task)
