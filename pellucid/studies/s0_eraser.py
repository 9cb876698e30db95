"""T3: do extracted spans agree with what people marked? ERASER's movie reviews, and e-SNLI.

Sun et al. (2020), "Self-Explaining Structures Improve NLP Models", section 5.3 and table 3; DeYoung et al. (2020),
"ERASER". The paper says neither how many spans are taken nor how long (corrections.md A0.19), so three cuts are judged.

    python -m pellucid.studies.s0_eraser --data FOLDER --work runs/s0_eraser --out studies/s0_eraser --processes 2

FOLDER holds movies, snli and esnli, each with JSON lines; --data pocket takes our own texts and pairs. What is finished is
kept in --out and not done again; models lie in --work. `--size tiny` takes a minute; small about 65 minutes in two processes
of one core each.
"""

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from functools import cached_property, partial
from pathlib import Path

from pellucid.api import extract
from pellucid.core.errors import ModelCannot
from pellucid.core.example import Example
from pellucid.core.extraction import Extraction
from pellucid.core.files import write_text
from pellucid.core.model import Model
from pellucid.core.progress import Progress, silent
from pellucid.datasets.load import load_examples
from pellucid.evaluation.eraser_scores import eraser_scores, example_columns
from pellucid.evaluation.selection import marked_share
from pellucid.evaluation.transfers import right_answers
from pellucid.extraction.extract import extract_from, selection_for
from pellucid.models.classifier import Classifier
from pellucid.reports.progress_bar import progress_bar
from pellucid.studies.s0_eraser_page import as_page, summed_up
from pellucid.studies.s0_models import CONCENTRATION, CONCENTRATION_HELP, MODELS, Training, train_kind
from pellucid.studies.sst2_methods import chosen
from pellucid.studies.units import Numbers, Share, Unit, digest, run_units, unheard
from pellucid.training.recipe import Recipe


@dataclass(frozen=True)
class Task:
    """What is trained on and judged: folders in --data, or data sets of our own; documents: texts of many sentences."""

    train: str
    judged: str
    own: str
    documents: bool
    labels: tuple[str, ...]


TASKS = {
    "movies": Task("movies", "movies", "pocket", True, ("negative", "positive")),
    "snli": Task("snli", "esnli", "pocket_pairs", False, ("contradiction", "entailment", "neutral")),
}
EXTRACTORS = {  # extractor -> the model that it reads
    "average_gradient": "plain",
    "average_attention": "plain",
    "rationale": "rationale",
    "span_attention": "span",
    "random_span": "plain",
}
PARTS = ("train", "dev", "judged")
CUTS = ("one span", "budget", "words")


@dataclass(frozen=True)
class Size:
    """How much is run of a task: texts to train on, to choose the epoch by and to judge, and how it is trained.

    without: kinds of models that would take too long.
    """

    train: int | None
    dev: int | None
    judged: int | None
    epochs: int
    batch_size: int
    learning_rate: float
    without: tuple[str, ...] = ()


SIZES = {
    "tiny": {name: Size(24, 8, 6, 1, 8, 1e-3) for name in TASKS},
    "small": {
        "movies": Size(400, 100, None, 2, 8, 5e-5, without=("rationale",)),
        "snli": Size(10_000, 2000, 2000, 1, 32, 5e-5),
    },
    "paper": {
        "movies": Size(None, None, None, 20, 40, 2e-5),
        "snli": Size(None, None, None, 20, 40, 2e-5),
    },
}


@dataclass(frozen=True)
class Settings:
    """What a run depends on, and where models (work) and numbers (out) are kept."""

    size: str
    data: str
    work: Path
    out: Path
    encoder: str = "minilm"
    concentration: float = CONCENTRATION
    device: str = "cpu"
    seed: int = 0

    @cached_property
    def about(self) -> Numbers:
        """What the numbers depend on."""
        sizes = {name: asdict(size) for name, size in SIZES[self.size].items()}
        encoder, data = Path(self.encoder).name, Path(self.data).name
        return {
            "sizes": sizes,
            "data": data,
            "texts": digest(
                {f"{task} {part}": self.examples(task, part) for task in TASKS for part in PARTS}
            ),
            "encoder": encoder,
            "concentration": self.concentration,
            "seed": self.seed,
        }

    def examples(self, task: str, part: str) -> list[Example]:
        """The texts of a part: "train" and "dev" to train with, "judged" with what people marked."""
        about, size = TASKS[task], SIZES[self.size][task]
        wanted = {"train": size.train, "dev": size.dev, "judged": size.judged}[part]
        folder = about.judged if part == "judged" else about.train
        source = about.own if self.data == "pocket" else str(Path(self.data) / folder)
        found = load_examples(source, "test" if part == "judged" else part)
        if part == "judged":
            found = [one for one in found if one.rationales]
        return [replace(one, meta={}) for one in (found if wanted is None else chosen(found, wanted))]

    def labels(self, task: str) -> tuple[str, ...]:
        """The classes of a task; our own texts have others."""
        if self.data == "pocket":
            return tuple(sorted({one.label for one in load_examples(TASKS[task].own, "all") if one.label}))
        return TASKS[task].labels


def run(settings: Settings, processes: int = 1, told: Progress = silent) -> Numbers:
    """All numbers of the study; what is finished is read."""
    sizes = SIZES[settings.size]
    models = [f"model-{task}-{kind}" for task in TASKS for kind in MODELS if kind not in sizes[task].without]
    extractors = [f"judged-{task}-{name}" for task in TASKS for name in EXTRACTORS]
    found: dict[str, Numbers] = {}
    for stage, names in (("models", models), ("extractors", extractors)):
        units = [
            Unit(name, settings.about, partial(work, settings, name), settings.encoder) for name in names
        ]
        found |= run_units(units, settings.out / "runs", processes, told, stage)
    return summed_up(found) | {"about": settings.about}


def work(settings: Settings, name: str, share: Share) -> Numbers:
    """One unit: a model of a task, or an extractor on it."""
    began = time.monotonic()
    what, task, which = name.split("-")
    if what == "model":
        numbers = _of_model(settings, task, which, share)
    else:
        numbers = _of_extractor(settings, task, which)
    return {"task": task, "name": which, **numbers, "seconds": round(time.monotonic() - began)}


def _of_model(settings: Settings, task: str, kind: str, share: Share) -> Numbers:
    model = trained(settings, task, kind, share)
    return {"right": right_answers(model, settings.examples(task, "judged"))}


def _of_extractor(settings: Settings, task: str, extractor: str) -> Numbers:
    if EXTRACTORS[extractor] in SIZES[settings.size][task].without:
        return {
            "left_out": f"its model, which reads every text twice, takes too long at size {settings.size}"
        }
    model, texts = trained(settings, task, EXTRACTORS[extractor]), settings.examples(task, "judged")
    budget = marked_share(model, texts)
    try:
        cuts = cut_texts(model, texts, extractor, budget, settings.seed)
    except ModelCannot:  # attention of windows that are joined is none of the whole text's
        if not TASKS[task].documents:
            raise
        return {"left_out": "its model reads documents in windows, and what it needs is of a window alone"}
    return {
        "marked_words": budget,
        **{
            cut: {
                "scores": asdict(eraser_scores(spans)),
                "columns": [example_columns(one, 0.5) for one in spans],
            }
            for cut, spans in cuts.items()
        },
    }


def cut_texts(
    model: Model, texts: Sequence[Example], extractor: str, budget: float, seed: int
) -> dict[str, list[Extraction]]:
    """The extractions of each cut; budget: the mean share of words that people marked.

    "one span": the literal rule for scores of words, what is let through for a rationale; "budget": one span as long
    as people's on average; "words": as many of the best words, wherever they stand.
    """
    if extractor == "random_span":
        cut = partial(extract, model, texts, "random_span_of_length", budget=budget, seed=seed)
        return {
            "one span": extract(model, texts, extractor, seed=seed),
            "budget": cut(selection="budget"),
            "words": cut(selection="best_words"),
        }
    rule = "literal" if extractor.startswith("average") else None
    selections = [
        selection_for(extractor, mode, None if mode == rule else budget, 1, None)
        for mode in (rule, "budget", "best_words")
    ]
    found = extract_from(model, texts, extractor, selections, {}, seed, silent)
    return dict(zip(CUTS, found, strict=True))


def trained(settings: Settings, task: str, kind: str, share: Share = unheard) -> Classifier:
    """A model of a task; a finished one is loaded."""
    size = SIZES[settings.size][task]
    recipe = Recipe(
        epochs=size.epochs, batch_size=size.batch_size, learning_rate=size.learning_rate, seed=settings.seed
    )
    training = Training(
        settings.encoder,
        settings.labels(task),
        recipe,
        settings.concentration,
        settings.device,
        TASKS[task].documents,
    )
    parts = {part: settings.examples(task, part) for part in ("train", "dev")}
    return train_kind(kind, training, parts, settings.work / "models" / f"{task}-{kind}", share)


def main(words: Sequence[str] | None = None) -> None:
    """Run what is missing, then write the page over all numbers."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, help="folder with movies, snli and esnli; or pocket")
    parser.add_argument("--work", type=Path, required=True, help="folder for models")
    parser.add_argument("--out", type=Path, required=True, help="folder for the numbers and the page")
    parser.add_argument("--size", choices=sorted(SIZES), default="small")
    parser.add_argument("--encoder", default="minilm", help="minilm, a folder, or a hub name")
    parser.add_argument("--concentration", type=float, default=CONCENTRATION, help=CONCENTRATION_HELP)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--processes", type=int, default=1, help="units at a time, a core each")
    given = vars(parser.parse_args(words))
    processes = given.pop("processes")
    with progress_bar(True) as told:
        numbers = run(Settings(**given), processes, told)
    write_text(given["out"] / "result.json", json.dumps(numbers, indent=1))
    write_text(given["out"] / "README.md", as_page(numbers, given["size"]))
    print(as_page(numbers, given["size"]))


if __name__ == "__main__":
    main()
