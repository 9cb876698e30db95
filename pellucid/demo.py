"""The main job end to end on our own corpus: train, measure, explain, judge, show.

A self-explaining classifier and its plain twin (same encoder, recipe and seed) learn pocket's attitudes; sixty
test sentences are explained by every method; the methods are judged against chance and the author's evidence.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from pellucid.base.catalogue import Choice
from pellucid.base.kinds import attributions
from pellucid.base.output_folder import OutputFolder
from pellucid.base.processes import Progress
from pellucid.data.load import classes_of, load_examples, load_parts
from pellucid.drawing.terminal import progress_bar
from pellucid.text.example import Example

if TYPE_CHECKING:  # `--help` needs neither models nor pages, which take seconds to import
    from pellucid.drawing.page import Section
    from pellucid.results.explanation import Explanation
    from pellucid.results.table import Interval, Table
    from pellucid.run.model import Model

REPORT = "report.html"
CORPUS, TEXTS, SHOWN, WRONG = "pocket", 60, 12, 4
# Chosen on dev. Larger batches cost fewer seconds a text, and want a higher rate.
EPOCHS, BATCH_SIZE, LEARNING_RATE = 4, 32, 2e-4
# Drawn for each text: the model's own explanation and two post-hoc ones.
BESIDE = ("span_attention", "occlusion", "kernel_shap")
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
        from pellucid.results.bootstrap import accuracy_interval

        return accuracy_interval(self.right)


def run_demo(out: Path, seed: int = 0) -> Path:
    """Do it all and write out/report.html. An interrupted demo goes on where it stopped."""
    from pellucid.comparison.door import compare_with
    from pellucid.drawing.page import write_report

    test = load_examples(CORPUS, "test")
    files = OutputFolder(out, "demo", f"seed {seed}", [REPORT], list(NAMES))
    state = files.begin()
    with progress_bar(True) as progress:
        models = {pooler: _trained(pooler, out, seed, test, progress) for pooler in NAMES}
        model, texts = models["span"].model, test[:TEXTS]
        explanations, table = compare_with(
            model,
            texts,
            _methods(model),
            None,
            target="predicted",
            seed=seed,
            resamples=1000,
            progress=progress,
        )
        progress("writing the report", 1, 1)
    sections = _sections(models, explanations, table, seed)
    path = write_report(out / REPORT, title="Pellucid demo: why did the model decide so?", sections=sections)
    files.end(state)
    _print(models, table, path)
    return path


def _trained(pooler: str, out: Path, seed: int, test: Sequence[Example], progress: Progress) -> Trained:
    from pellucid.explaining.inputs.loading import route_to_load
    from pellucid.models.composed.networks import Plan
    from pellucid.run.packing import scheduler_for
    from pellucid.run.scheduler import evaluate_rows
    from pellucid.training.recipes import training_settings
    from pellucid.training.train import train_model

    parts = load_parts(CORPUS)
    rates: dict[str, Any] = {"epochs": EPOCHS, "batch_size": BATCH_SIZE, "learning_rate": LEARNING_RATE}
    settings = training_settings(pooler, "minilm", seed=seed, **rates)  # else as in `pellucid train`
    plan = Plan("minilm", pooler, settings.pooler_settings, classes_of(CORPUS, parts["train"]))
    stage = f"training the {NAMES[pooler]} model"
    model = train_model(
        parts,
        plan,
        settings.recipe,
        out / pooler,
        "cpu",
        progress=lambda _, done, total: progress(stage, done, total),
    )
    model = replace(model, route=route_to_load(None))  # as `load` of its folder would have it
    logits = evaluate_rows(model, scheduler_for(model), model.encode(test).rows)
    predicted = [model.labels[index] for index in logits.argmax(-1).tolist()]
    right = np.array([label == example.label for label, example in zip(predicted, test, strict=True)])
    return Trained(model, right)


def _methods(model: Model) -> list[Choice]:
    from pellucid.explaining.inputs.readings import usual_methods

    names = [choice for choice in usual_methods(model) if isinstance(choice, str)]
    return [(name, BUDGET[name]) if name in BUDGET else name for name in names]


def _sections(
    models: dict[str, Trained], explanations: dict[str, list[Explanation]], table: Table, seed: int
) -> list[Section]:
    from pellucid.drawing.comparison_section import comparison_section
    from pellucid.drawing.page import caveats_section, facts_section, page_scales
    from pellucid.explaining.report import texts_section

    drawn = [of_method for title, of_method in explanations.items() if title.split("(")[0] in BESIDE]
    drawn.sort(key=lambda of_method: BESIDE.index(of_method[0].method.split("(")[0]))
    scales = page_scales([explanation for of_method in drawn for explanation in of_method])
    wrong = [
        index for index, explanation in enumerate(drawn[0]) if explanation.prediction.label != explanation.example.label
    ]
    shown = [index for index in range(len(drawn[0])) if index not in wrong[:WRONG]][:SHOWN]

    def of_texts(numbers: Sequence[int]) -> list[Explanation]:
        return [of_method[index] for index in numbers for of_method in drawn]

    return [
        texts_section(of_texts(shown), "Twelve texts, and why the model decided as it did", SHOWN_TEXTS, scales=scales),
        texts_section(
            of_texts(wrong[:WRONG]),
            "Where the model was wrong, and what misled it",
            WRONG_TEXTS,
            scales=scales,
        ),
        comparison_section(table),
        facts_section("What was trained, and how well", TRAINED, _facts(models, seed)),
        caveats_section(CAVEATS),
    ]


TRAINED = (
    "Two classifiers learnt to tell negative, neutral and positive remarks apart. They start from the same pretrained "
    "language model and see the same sentences in the same order. One explains itself: it weighs spans of up to four "
    "words and decides by the two heaviest ones. The other is an ordinary classifier."
)
SHOWN_TEXTS = (
    "The first picture shows the two spans of words that the self-explaining model itself decided by. The two below "
    "it come from methods that explain any model from outside: they are guesses that can be checked."
)
WRONG_TEXTS = "The same pictures for texts that the model got wrong: the marked words are the evidence that misled it."
CAVEATS = (
    "The corpus is small and was written by one project's authors; accuracies on it say little about other texts.",
    "The author's evidence was marked while writing and is not an independent annotation.",
    "A span's vector is computed from states that have seen the whole sentence, so a short span can carry more than "
    "its own words.",
)


def _facts(models: dict[str, Trained], seed: int) -> dict[str, object]:
    from pellucid.results.bootstrap import paired_difference

    difference = paired_difference(models["span"].right[:, None] * 1.0, models["first_token"].right[:, None] * 1.0)
    sizes = {split: len(load_examples(CORPUS, split)) for split in ("train", "dev", "test")}
    return {
        "accuracy of the self-explaining model on test": models["span"].accuracy,
        "accuracy of its plain twin on test": models["first_token"].accuracy,
        "difference, self-explaining minus plain": difference,
        "sentences": sizes,
        "encoder": "all-MiniLM-L6-v2 (6 layers, 22 million weights)",
        "epochs": f"{EPOCHS}, the best on dev kept",
        "texts explained": TEXTS,
        "cost of each method, a text": _costs(models["span"].model),
        "seed": seed,
    }


def _costs(model: Model) -> dict[str, str]:
    """The cost of each method for a text, with the demo's settings."""
    from pellucid.explaining.inputs.readings import usual_methods

    settings = {
        name: ", ".join(f"{key} = {value}" for key, value in of_method.items()) for name, of_method in BUDGET.items()
    }
    entries = [attributions.get(str(name)) for name in usual_methods(model)]
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


# `pellucid demo`: the whole job on our own corpus, from training to the report.


def demo(
    out: Annotated[Path, typer.Option(help="The folder for the models and the report.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="The seed of training and of all random draws.")] = 0,
) -> None:
    """Train a self-explaining classifier and its plain twin, explain, judge, and write a report."""
    run_demo(out, seed)
