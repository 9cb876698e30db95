"""T3: do extracted spans agree with what people marked? ERASER's movie reviews, and e-SNLI.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.3 and table 3; DeYoung et al. (2020),
"ERASER". The paper says neither how many spans are taken nor how long (corrections.md A0.19), so three cuts are judged.
A self-explaining model can put its weight on the final full stop of every text. So its penalty is chosen on dev among those
whose spans did not collapse, and of a model whose spans collapsed nothing is claimed.

    python -m pellucid.studies.s0_eraser --data FOLDER --work runs/s0_eraser --out studies/s0_eraser --processes 2

FOLDER holds movies, snli and esnli, each with JSON lines; --data pocket takes our own texts and pairs. What is finished is
kept in --out and not done again; models lie in --work. `--size tiny` takes a minute; small about 75 minutes in two processes
of one core each.
"""

import argparse
import json
import shutil
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from pellucid.core.example import Example
from pellucid.core.explanation import Explanation
from pellucid.core.files import write_text
from pellucid.core.heaviest_spans import heaviest_spans
from pellucid.core.progress import Progress, silent
from pellucid.evaluation.cue_words import words_of
from pellucid.evaluation.eraser_scores import eraser_scores, example_columns
from pellucid.evaluation.transfers import right_answers
from pellucid.models.classifier import Classifier
from pellucid.reports.progress_bar import progress_bar
from pellucid.studies.eraser_cuts import (
    cut_at_random,
    cut_by_scores,
    explanations_of,
    lengths_of,
    marked_tokens,
)
from pellucid.studies.eraser_texts import TASKS, labels_of, part_of
from pellucid.studies.s0_accuracy import SCORE_START
from pellucid.studies.s0_eraser_page import as_page, summed_up
from pellucid.studies.s0_models import CONCENTRATION, Training, train_kind
from pellucid.studies.units import Numbers, Share, Unit, digest, run_units
from pellucid.training.recipe import Recipe

# kind of self-explaining model -> its settings: as the paper's; not reading the final full stop; weighing no span of
# punctuation and function words alone
SPANS: dict[str, dict[str, Any]] = {
    "span": {},
    "span_stripped": {"strip_final_full_stop": True},
    "span_with_content": {"pooler_settings": {"spans": "with_content"}},
}
# extractor -> the kind of model that it reads
RIVALS = {
    "average_gradient": "plain",
    "average_attention": "plain",
    "rationale": "rationale",
    "random_span": "plain",
}
# What to choose from on dev: the paper's penalty with its lambda and less, and what `pellucid train` takes, from its start.
PENALTIES: dict[str, tuple[dict[str, float], float]] = {
    "lambda_0.5": ({"concentration": 0.5}, SCORE_START),
    "lambda_1": ({"concentration": 1.0}, SCORE_START),
    "lambda_1.5": ({"concentration": CONCENTRATION}, SCORE_START),
    "entropy_0.1": ({"entropy": 0.1}, 0.05),
}
CHOSEN_ON = 300  # dev texts whose heaviest spans are looked at
MOST_WORDS = 12  # of the heaviest spans' words that are listed


@dataclass(frozen=True)
class Size:
    """How much is run of a task: texts to train on, to choose the epoch by and to judge, and how it is trained.

    kinds: of models. penalties: names to choose from; choosing: texts to train on for that, where fewer. words: the
    most of a document that are read, in its last sentences; None: all, in windows that are joined.
    """

    train: int | None
    dev: int | None
    judged: int | None
    epochs: int
    batch_size: int
    learning_rate: float
    kinds: tuple[str, ...]
    penalties: tuple[str, ...]
    choosing: int | None = None
    words: int | None = None


ON_MOVIES = ("plain", "span")
ON_PAIRS = ("plain", "rationale", "span_stripped", "span_with_content")
TWO, FOUR = ("lambda_1.5", "entropy_0.1"), tuple(PENALTIES)
SIZES = {
    "tiny": {
        "movies": Size(24, 8, 6, 1, 8, 1e-3, ON_MOVIES, TWO, words=20),
        "snli": Size(24, 8, 6, 1, 8, 1e-3, ON_PAIRS, TWO, choosing=16),
    },
    "small": {
        "movies": Size(400, 100, None, 2, 8, 5e-5, ON_MOVIES, TWO, words=200),
        "snli": Size(10_000, 1000, 2000, 1, 32, 5e-5, ON_PAIRS, FOUR, choosing=5000),
    },
    "paper": {
        "movies": Size(None, None, None, 20, 40, 2e-5, (*ON_MOVIES, "rationale"), FOUR),
        "snli": Size(None, None, None, 20, 40, 2e-5, ON_PAIRS, FOUR),
    },
}
SEEDS = {"tiny": 2, "small": 3, "paper": 3}


@dataclass(frozen=True)
class Settings:
    """What a run depends on, and where models (work) and numbers (out) are kept.

    best: task and kind -> the penalty chosen on dev, once it is known.
    """

    size: str
    data: str
    work: Path
    out: Path
    encoder: str = "minilm"
    device: str = "cpu"
    best: Mapping[tuple[str, str], str] = field(default_factory=dict)

    @property
    def seeds(self) -> range:
        """The training seeds."""
        return range(SEEDS[self.size])

    @cached_property
    def texts(self) -> dict[str, str]:
        """Task -> a digest of its texts."""
        parts = ("train", "dev", "judged")
        return {task: digest({part: self.examples(task, part) for part in parts}) for task in TASKS}

    def size_of(self, task: str) -> Size:
        """How much is run of a task."""
        return SIZES[self.size][task]

    def examples(self, task: str, part: str) -> list[Example]:
        """The texts of a part: "train" and "dev" to train with, "judged" with what people marked."""
        size = self.size_of(task)
        most = {"train": size.train, "dev": size.dev, "judged": size.judged}[part]
        return list(part_of(self.data, task, part, most, size.words))


@dataclass(frozen=True)
class Model:
    """One model of the study; penalty: of a self-explaining one. few: trained on fewer texts, to choose the penalty."""

    task: str
    kind: str
    seed: int
    penalty: str | None = None
    few: bool = False

    @property
    def name(self) -> str:
        """What its files are called."""
        words = (self.task, self.kind, *([self.penalty] if self.penalty else []), str(self.seed))
        return "-".join((*words, "few") if self.few else words)

    def about(self, settings: Settings, **more: Any) -> Numbers:
        """What its numbers depend on."""
        size = {name: held for name, held in asdict(settings.size_of(self.task)).items() if name not in LISTS}
        return {
            **asdict(self),
            **size,
            "data": Path(settings.data).name,
            "texts": settings.texts[self.task],
            "encoder": Path(settings.encoder).name,
            "settings": SPANS.get(self.kind, {}),
            "weights": PENALTIES[self.penalty] if self.penalty else None,
            **more,
        }


LISTS = ("kinds", "penalties")  # of a size: what is run, not how


def run(settings: Settings, processes: int = 1, told: Progress = silent) -> Numbers:
    """All numbers of the study; what is finished is read."""
    folder = settings.out / "runs"
    tried = run_units(list(_choosing(settings)), folder, processes, told, "choosing")
    settings = replace(settings, best=best_penalties(list(tried.values())))
    models = run_units(list(_models(settings)), folder, processes, told, "models")
    judged = run_units(list(_extractors(settings)), folder, processes, told, "extractors")
    numbers = summed_up(*(list(found.values()) for found in (tried, models, judged)))
    return numbers | {
        "about": {
            "size": settings.size,
            "sizes": {task: asdict(settings.size_of(task)) for task in TASKS},
            "encoder": Path(settings.encoder).name,
            "data": Path(settings.data).name,
            "texts": settings.texts,
            "seeds": len(settings.seeds),
        }
    }


def best_penalties(tried: Sequence[Numbers]) -> dict[tuple[str, str], str]:
    """Of each task and kind the penalty with the best accuracy on dev, of those whose spans did not collapse if any."""
    by_kind: dict[tuple[str, str], list[Numbers]] = {}
    for one in tried:
        by_kind.setdefault((one["task"], one["kind"]), []).append(one)
    return {
        name: max(ones, key=lambda one: (not one["collapsed"], one["dev_accuracy"]))["penalty"]
        for name, ones in by_kind.items()
    }


def _choosing(settings: Settings) -> list[Unit]:
    units = []
    for task in TASKS:
        size = settings.size_of(task)
        for kind in (kind for kind in size.kinds if kind in SPANS):
            for penalty in size.penalties:
                model = Model(task, kind, 0, penalty, few=size.choosing is not None)
                units.append(_unit(f"choosing-{model.name}", model, settings, _chosen_by))
    return units


def _models(settings: Settings) -> list[Unit]:
    """Seed by seed, so that a study that is stopped early has whole seeds."""
    return [
        _unit(f"model-{model.name}", model, settings, _judged_model)
        for seed in settings.seeds
        for model in _of_seed(settings, seed)
    ]


def _of_seed(settings: Settings, seed: int) -> list[Model]:
    return [
        Model(task, kind, seed, settings.best.get((task, kind)))
        for task in TASKS
        for kind in settings.size_of(task).kinds
    ]


def _extractors(settings: Settings) -> list[Unit]:
    units = []
    for seed in settings.seeds:
        models = _of_seed(settings, seed)
        for task in TASKS:
            by_kind = {model.kind: model for model in models if model.task == task}
            readers = {name: by_kind[kind] for name, kind in RIVALS.items() if kind in by_kind}
            if _joined(settings, task):  # attention of windows is none of the whole text's
                del readers["average_attention"]
            readers |= {kind: model for kind, model in by_kind.items() if kind in SPANS}
            for name, model in readers.items():
                work = partial(_judged_extractor, extractor=name)
                units.append(_unit(f"judged-{task}-{name}-{seed}", model, settings, work, extractor=name))
    return units


def _unit(name: str, model: Model, settings: Settings, work: Callable[..., Numbers], **more: Any) -> Unit:
    return Unit(name, model.about(settings, **more), partial(_timed, work, settings, model))


def _timed(work: Callable[..., Numbers], settings: Settings, model: Model, share: Share) -> Numbers:
    began = time.monotonic()
    numbers = work(settings, model, share)
    return {**asdict(model), **numbers, "seconds": round(time.monotonic() - began)}


def _chosen_by(settings: Settings, model: Model, share: Share) -> Numbers:
    """What a penalty is chosen by; a model of few texts is let go."""
    network, dev = trained(settings, model, share), settings.examples(model.task, "dev")
    found = heaviest_spans(explanations_of(network, dev[:CHOSEN_ON], "span_attention", 0))
    if model.few:
        shutil.rmtree(_folder(settings, model))
    right = right_answers(network, dev)
    return {
        "dev_accuracy": float(sum(right) / len(right)),
        "collapsed": found.collapsed,
        "heaviest": asdict(found),
    }


def _judged_model(settings: Settings, model: Model, share: Share) -> Numbers:
    right = right_answers(trained(settings, model, share), settings.examples(model.task, "judged"))
    return {"right": "".join(str(int(one)) for one in right)}


def _judged_extractor(settings: Settings, model: Model, share: Share, extractor: str) -> Numbers:
    network, texts = trained(settings, model, share), settings.examples(model.task, "judged")
    share_marked = marked_tokens(texts)
    lengths = lengths_of(texts, share_marked)
    if extractor == "random_span":
        cuts, more = cut_at_random(network, texts, lengths, model.seed), {}
    else:
        name = "span_attention" if extractor in SPANS else extractor
        explanations = explanations_of(network, texts, name, model.seed)
        cuts = cut_by_scores(explanations, name, lengths, model.seed)
        more = _of_spans(explanations) if extractor in SPANS else {}
    return {
        "extractor": extractor,
        "marked": share_marked,
        "taken": {cut: eraser_scores(spans, resamples=1).budget for cut, spans in cuts.items()},
        "columns": {
            cut: [[round(value, 4) for value in example_columns(one, 0.5)] for one in spans]
            for cut, spans in cuts.items()
        },
        **more,
    }


def _of_spans(explanations: Sequence[Explanation]) -> Numbers:
    """What the heaviest spans are: counts, the commonest words, and over how many spans the weight is spread."""
    words: Counter[str] = Counter()
    for one in explanations:
        words.update(words_of(one.spans(1)[0].text))
    spread = [one.diagnostics["effective_spans"] for one in explanations]
    return {
        "heaviest": asdict(heaviest_spans(explanations)),
        "words": words.most_common(MOST_WORDS),
        "words_in_all": words.total(),
        "effective_spans": sum(spread) / len(spread),
    }


def trained(settings: Settings, model: Model, share: Share) -> Classifier:
    """A model of the study; a finished one is loaded."""
    size, documents = settings.size_of(model.task), TASKS[model.task].documents
    recipe = Recipe(
        epochs=size.epochs, batch_size=size.batch_size, learning_rate=size.learning_rate, seed=model.seed
    )
    own = dict(SPANS.get(model.kind, {}))
    weights, start = PENALTIES[model.penalty] if model.penalty else ({}, SCORE_START)
    within = {"within": "sentence"} if documents else {}
    own["pooler_settings"] = {**within, "score_start": start, **own.get("pooler_settings", {})}
    training = Training(
        settings.encoder,
        labels_of(settings.data, model.task),
        recipe,
        CONCENTRATION,
        settings.device,
        documents=_joined(settings, model.task),
        penalties=weights,
        **own,
    )
    parts = {part: settings.examples(model.task, part) for part in ("train", "dev")}
    if model.few:
        parts["train"] = parts["train"][: size.choosing]
    kind = "span" if model.kind in SPANS else model.kind
    return train_kind(kind, training, parts, _folder(settings, model), share)


def _joined(settings: Settings, task: str) -> bool:
    """Whether texts are longer than the encoder reads."""
    return TASKS[task].documents and settings.size_of(task).words is None


def _folder(settings: Settings, model: Model) -> Path:
    return settings.work / "models" / model.name


def main(words: Sequence[str] | None = None) -> None:
    """Run what is missing, then write the page over all numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with movies, snli and esnli; or pocket")
    parser.add_argument("--work", type=Path, required=True, help="folder for models")
    parser.add_argument("--out", type=Path, required=True, help="folder for the numbers and the page")
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--encoder", default="minilm", help="minilm, a folder, or a hub name")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=1, help="units at a time, a core each")
    given = vars(parser.parse_args(words))
    processes = given.pop("processes")
    with progress_bar(True) as told:
        numbers = run(Settings(**given), processes, told)
    write_text(given["out"] / "result.json", json.dumps(numbers, indent=1))
    write_text(given["out"] / "README.md", as_page(numbers))
    print(as_page(numbers))


if __name__ == "__main__":
    main()
