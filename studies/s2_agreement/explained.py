"""Explanations of the models' test texts by the methods of the paper, made once and read by several studies."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import pellucid
from pellucid.base.json_text import json_digest
from pellucid.base.processes import Share, no_report
from pellucid.comparison.check_case import CheckCase, Corpus, TextIntervals
from pellucid.comparison.checking import OurChanges
from pellucid.comparison.scored_text import Explained, by_method
from pellucid.results.explanation import Explanation
from pellucid.results.storage import read, save
from pellucid.run.explaining import Request, method_calls
from pellucid.run.target import Target
from pellucid.text.example import Example
from studies.s2_deletion.methods import CHANCE, PAPER, Methods, released
from studies.s2_models.tasks import TASKS
from studies.s2_models.trained_models import parts_of, trained, training_about
from studies.s3_accuracy.models import PRETRAINED
from studies.shared.study import Settings
from studies.shared.units import Numbers, text_digest

METHODS: Methods = {**PAPER, released("LRP"): "wu_ong_lrp", CHANCE: (CHANCE, {"n_draws": 1})}
AT_ONCE = 50  # texts between two reports


@dataclass(frozen=True)
class ExplainedSize:
    """texts: data set -> test texts that are explained, at most. resamples: bootstrap draws of texts."""

    texts: Mapping[str, int]
    resamples: int = 1_000


SIZES = {
    "tiny": ExplainedSize({"sst5": 8, "imdb": 8}, 20),
    "small": ExplainedSize({"sst5": 800, "semeval": 800, "imdb": 250, "yelp5": 250}),
    "paper": ExplainedSize(dict.fromkeys(TASKS, 2_000)),
}


def explained_texts(settings: Settings, task: str) -> list[Example]:
    """The explained texts: of the test part those with the smallest digests."""
    return parts_of(settings, task)["test"][: settings.size.texts[task]]


def explained_about(settings: Settings, task: str) -> Numbers:
    """What the explanations of a data set depend on besides the seed."""
    texts = text_digest({"explained": explained_texts(settings, task)})
    return {"training": training_about(settings, task, PRETRAINED), "explained": texts}


def explained(settings: Settings, task: str, seed: int, share: Share = no_report) -> Explained:
    """Method's title -> the texts of a data set, under the model of a seed; made and saved in the work folder where it
    is missing.
    """
    path = _path(settings, task, seed)
    if path.exists():
        return by_method(read(path))
    model = trained(settings, task, seed, PRETRAINED, lambda done: share(0.1 * done))
    texts, explanations = explained_texts(settings, task), list[Explanation]()
    for first in range(0, len(texts), AT_ONCE):
        some = texts[first : first + AT_ONCE]
        of_some = pellucid.explain_all(model, some, list(METHODS.values()), progress=False)
        explanations += [one for of_method in of_some.values() for one in of_method]
        share(0.1 + 0.9 * (first + len(some)) / len(texts))
    save(explanations, path)
    return by_method(explanations)


def check_case(settings: Settings, task: str, seed: int, corpora: Mapping[str, Corpus] | None = None) -> CheckCase:
    """What checks read of a data set under the model of a seed. corpora: explanations of the others."""
    model = trained(settings, task, seed)
    request = Request(model, method_calls(list(METHODS.values()), model), Target("predicted"), 0)
    intervals = TextIntervals(settings.size.resamples, 0)
    texts = tuple(explained_texts(settings, task))
    return CheckCase(request, texts, explained(settings, task, seed), intervals, OurChanges(), corpora=corpora or {})


def names_of(titles: Sequence[str]) -> dict[str, str]:
    """Method's title -> the paper's short name."""
    return dict(zip(titles, METHODS, strict=True))


def _path(settings: Settings, task: str, seed: int) -> Path:
    """Named by what the explanations depend on, so that those of other texts or settings are not read."""
    digest = json_digest(explained_about(settings, task) | {"encoder": settings.encoder})[:12]
    return settings.work / "explained" / f"{task}-{seed}-{digest}.parquet"
