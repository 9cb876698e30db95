"""The main job end to end on our own corpus: explain at once, then train, measure, judge, show.

A small model that comes with the package is explained first (`demo_first_page.py`). Then a self-explaining classifier
and its plain twin (same encoder, recipe and seed) learn the same task; a hundred test requests are explained by several
methods; the methods are judged against chance and the writer's evidence.
"""

import random
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.base.catalogue import Choice
from pellucid.base.kinds import attributions
from pellucid.base.output_folder import OutputFolder
from pellucid.base.processes import Progress
from pellucid.comparison.door import compare_with
from pellucid.data.load import classes_of, load_examples, load_parts
from pellucid.demo_first_page import (
    CAVEATS,
    CORPUS,
    FIRST,
    READY,
    drawn_texts,
    of_helpdesk,
    write_first_page,
)
from pellucid.drawing.comparison_section import TITLE, comparison_section
from pellucid.drawing.page import caveats_section, facts_section, write_report
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.loading import route_to_load
from pellucid.explaining.inputs.readings import supported_methods
from pellucid.explaining.views.opening import examples_view, table_opening
from pellucid.models.composed.networks import Plan
from pellucid.results.bootstrap import accuracy_interval, paired_difference
from pellucid.results.explanation import Explanation
from pellucid.results.table import Interval, Table
from pellucid.run.model import Model
from pellucid.run.predicting import predictions
from pellucid.text.example import Example
from pellucid.training.recipe import Recipe
from pellucid.training.recipes import training_settings
from pellucid.training.train import train_model

REPORT = "report.html"
TEXTS = 100  # that are compared: a comparison advises from so many on
# Chosen on dev. Larger batches cost fewer seconds a text, and want a higher rate.
EPOCHS, BATCH_SIZE, LEARNING_RATE = 4, 32, 2e-4
# Compared, each a kind of its own; and drawn for each text, the model's own explanation and a post-hoc one.
COMPARED = ("span_attention", "occlusion", "kernel_shap", "lime", "integrated_gradients", "chance")
BESIDE = ("span_attention", "occlusion")
# Few passes a text, so that many texts take minutes. Methods that are not named here run with their defaults.
FEW_PASSES: dict[str, dict[str, Any]] = {
    "smooth_gradient": {"n_samples": 8},
    "gradient_shap": {"n_samples": 8},
    "shapley_sampling": {"n_permutations": 8},
    "gaussian_process_shapley": {"n_samples": 64},
    "kernel_shap": {"n_samples": 64},
    "lime": {"n_samples": 64},
}
BUDGET = {"integrated_gradients": {"n_steps": 16}, **FEW_PASSES, "chance": {"n_draws": 5}}
NAMES = {"span": "self-explaining (span attention)", "first_token": "plain twin (first token)"}


@dataclass(frozen=True)
class Trained:
    """A model of the demo and, text by text, whether it is right on the test part."""

    model: Model
    right: np.ndarray

    @property
    def accuracy(self) -> Interval:
        """Share of test texts classified rightly, with its 95 % interval."""
        return accuracy_interval(self.right)


def run_demo(out: Path, seed: int = 0) -> Path:
    """Write out/first.html, then do it all and write out/report.html. An interrupted demo goes on where it stopped."""
    start, test = time.monotonic(), load_examples(CORPUS, "test")
    folder = OutputFolder(out, "demo", f"seed {seed}", [FIRST, REPORT, f"{READY}/*"], list(NAMES))
    state = folder.begin()
    page = write_first_page(out, test, seed)
    print(f"The first page: {page} (after {time.monotonic() - start:.0f} seconds). Now a classifier is trained, and")
    print(f"methods are compared: {out / REPORT} will be the page of that.", flush=True)
    with progress_bar(True) as progress:
        models = {pooler: _trained(pooler, out, seed, test, progress) for pooler in NAMES}
        model = models["span"].model
        explanations, table = compare_with(
            model,
            random.Random(seed).sample(test, min(TEXTS, len(test))),
            _methods(model),
            None,
            target="predicted",
            seed=seed,
            resamples=1000,
            progress=progress,
        )
        progress("writing the report", 1, 1)
    path = _write_report(out, models, explanations, table, seed)
    folder.end(state)
    _print(models, table, path)
    return path


def demo_training(pooler: str, seed: int) -> tuple[Plan, Recipe]:
    """What `pellucid train helpdesk` trains with this pooler, but for the demo's number of epochs and its rate."""
    settings = training_settings(
        pooler, "minilm", seed=seed, epochs=EPOCHS, batch_size=BATCH_SIZE, learning_rate=LEARNING_RATE
    )
    return Plan("minilm", pooler, settings.pooler_settings, classes_of(CORPUS, [])), settings.recipe


def _trained(pooler: str, out: Path, seed: int, test: Sequence[Example], progress: Progress) -> Trained:
    plan, recipe = demo_training(pooler, seed)
    stage = f"training the {NAMES[pooler]} model"
    model = train_model(
        load_parts(CORPUS),
        plan,
        recipe,
        out / pooler,
        "cpu",
        progress=lambda _, done, total: progress(stage, done, total),
    )
    model = replace(model, route=route_to_load(None))  # as `load` of its folder would have it
    answers = predictions(model, test)
    right = np.array([answer.label == example.label for answer, example in zip(answers, test, strict=True)])
    return Trained(model, right)


def _methods(model: Model) -> list[Choice]:
    """Those of `COMPARED` that the model supports, with the demo's settings."""
    names = [name for name in COMPARED if name in supported_methods(model)]
    return [(name, BUDGET[name]) if name in BUDGET else name for name in names]


def _write_report(
    out: Path, models: dict[str, Trained], explanations: dict[str, list[Explanation]], table: Table, seed: int
) -> Path:
    by_method = [of_method for title, of_method in explanations.items() if title.split("(")[0] in BESIDE]
    by_method.sort(key=lambda of_method: BESIDE.index(of_method[0].method.split("(")[0]))
    drawn = drawn_texts(by_method, seed)
    sections = [
        comparison_section(table),
        *drawn.sections(),
        facts_section("What was trained, and how well", TRAINED, _facts(models, seed)),
        caveats_section((*CAVEATS, SPANS_SEE_MORE)),
    ]
    opened = replace(
        of_helpdesk(table_opening(table), len(by_method[0])), texts=examples_view(drawn.picks, drawn.scales)
    )
    return write_report(out / REPORT, title=TITLE, sections=sections, opening=opened)


TRAINED = (
    "Two classifiers learnt which department a request is for. They start from the same pretrained "
    "language model and see the same requests in the same order. One explains itself: it weighs spans of up to four "
    "words and decides by the two heaviest ones. The other is an ordinary classifier."
)
SPANS_SEE_MORE = (
    "A span's vector is computed from states that have seen the whole request, so a short span can carry more than its "
    "own words."
)


def _facts(models: dict[str, Trained], seed: int) -> dict[str, object]:
    difference = paired_difference(models["span"].right[:, None] * 1.0, models["first_token"].right[:, None] * 1.0)
    sizes = {split: len(load_examples(CORPUS, split)) for split in ("train", "dev", "test")}
    return {
        "accuracy of the self-explaining model on test": models["span"].accuracy,
        "accuracy of its plain twin on test": models["first_token"].accuracy,
        "difference, self-explaining minus plain": difference,
        "requests": sizes,
        "encoder": "all-MiniLM-L6-v2 (6 layers, 22 million weights)",
        "epochs": f"{EPOCHS}, the best on dev kept",
        "texts explained": TEXTS,
        "cost of each method, a text": _costs(models["span"].model),
        "seed": seed,
    }


def _costs(model: Model) -> dict[str, str]:
    """The cost of each method for a text, with the demo's settings."""
    settings = {
        name: ", ".join(f"{key} = {value}" for key, value in of_method.items()) for name, of_method in BUDGET.items()
    }
    entries = [attributions.get(name) for name in COMPARED if name in supported_methods(model)]
    return {
        entry.name: entry.facts["cost"] + (f" ({settings[entry.name]})" if entry.name in settings else "")
        for entry in entries
    }


def _print(models: dict[str, Trained], table: Table, path: Path) -> None:
    for pooler, name in NAMES.items():
        share = models[pooler].accuracy
        print(f"{name}: accuracy {share.mean:.1%}, 95 % interval {share.low:.1%} to {share.high:.1%}")
    print(table)
    print(f"The report: {path}")
