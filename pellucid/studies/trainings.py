"""Many trainings, several at a time, each kept when it ends: what is there already is not run again.

A killed study goes on from the last checkpoint of the trainings that were under way.
"""

import json
import multiprocessing
import shutil
from collections.abc import Mapping, Sequence
from concurrent.futures import FIRST_EXCEPTION, ProcessPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pellucid.core.example import Example
from pellucid.core.files import write_text
from pellucid.core.forward_pass import evaluate_rows
from pellucid.core.progress import Progress
from pellucid.core.scheduler import Scheduler, default_budget
from pellucid.datasets.load import load_examples
from pellucid.models.classifier import Classifier
from pellucid.models.composed import Plan
from pellucid.studies.sharpness import sharpness
from pellucid.training.objective import gold_numbers
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model

Found = dict[str, Any]


@dataclass(frozen=True)
class Corpus:
    """A data set by folder or name, and how many examples of which split are used (no entry: all)."""

    source: str
    most: Mapping[str, int] = field(default_factory=dict)

    def part(self, split: str) -> list[Example]:
        """The first examples of a split."""
        return load_examples(self.source, split)[: self.most.get(split)]


@dataclass(frozen=True)
class Trial:
    """One training: `model` is what tables call it; the recipe's seed tells it from its repetitions."""

    model: str
    plan: Plan
    recipe: Recipe

    @property
    def name(self) -> str:
        return f"{self.model}-{self.recipe.seed}"


def seeded(model: str, plan: Plan, recipe: Recipe, seeds: int) -> list[Trial]:
    """The same training with the seeds 0, 1, ..."""
    return [Trial(model, plan, replace(recipe, seed=seed)) for seed in range(seeds)]


def run_trials(
    trials: Sequence[Trial], corpus: Corpus, out: Path, device: str, processes: int, told: Progress
) -> list[Found]:
    """Every trial's numbers, in order; those missing in out/runs are trained, `processes` at a time, one thread each.

    A trial's numbers: model, seed, recipe, history (by epoch, on dev), right ("1" or "0" for each test text) and, of
    a self-explaining model, its sharpness on dev. Raises what the first failing training raised.
    """
    missing = [trial for trial in trials if not _kept(out, trial).exists()]
    if missing and processes > 1:
        _side_by_side(missing, corpus, out, device, processes, told)
    for number, trial in enumerate(missing if processes == 1 else []):
        _run(
            trial,
            corpus,
            out,
            device,
            lambda share, n=number: told("training", _hundredths(n + share), 100 * len(missing)),
        )
    return [json.loads(_kept(out, trial).read_text(encoding="utf-8")) for trial in trials]


def _side_by_side(
    trials: Sequence[Trial], corpus: Corpus, out: Path, device: str, processes: int, told: Progress
) -> None:
    context = multiprocessing.get_context("spawn")
    shares = context.Array("d", len(trials))
    with ProcessPoolExecutor(processes, context, initializer=_start, initargs=(shares,)) as pool:
        waiting = {
            pool.submit(_run_numbered, number, trial, corpus, out, device)
            for number, trial in enumerate(trials)
        }
        while waiting:
            done, waiting = wait(waiting, timeout=1, return_when=FIRST_EXCEPTION)
            told("training", _hundredths(sum(shares[:])), 100 * len(trials))
            for failed in (future for future in done if future.exception()):
                pool.shutdown(wait=False, cancel_futures=True)
                raise failed.exception()  # type: ignore[misc]


_shares: Any = None  # in a worker: how much of each trial is done, shared with the parent


def _start(shares: Any) -> None:
    global _shares
    _shares = shares
    torch.set_num_threads(1)


def _run_numbered(number: int, trial: Trial, corpus: Corpus, out: Path, device: str) -> None:
    def share(done: float) -> None:
        _shares[number] = done

    _run(trial, corpus, out, device, share)


def _hundredths(done: float) -> int:
    return int(100 * done)


def _run(trial: Trial, corpus: Corpus, out: Path, device: str, told_share: Any) -> None:
    """Train and judge one trial and keep its numbers; the model itself, 90 MB and more, is let go."""
    folder = out / "models" / trial.name
    parts = {
        split: _part(corpus.source, tuple(corpus.most.items()), split) for split in ("train", "dev", "test")
    }
    model = train_model(
        parts,
        trial.plan,
        trial.recipe,
        folder,
        device,
        lambda _, done, total: told_share(0.95 * done / total),
    )
    held = json.loads((folder / "config.json").read_text(encoding="utf-8"))["trained"]
    found: Found = {
        "model": trial.model,
        "seed": trial.recipe.seed,
        "pooler": trial.plan.pooler,
        "pooler_settings": dict(trial.plan.pooler_settings),
        "recipe": asdict(trial.recipe),
        "history": held["history"],
        "right": "".join(str(int(one)) for one in answered_right(model, parts["test"])),
        "sharpness": sharpness(model, parts["dev"]) if "span_weights" in model.capabilities else None,
    }
    write_text(_kept(out, trial), json.dumps(found))
    told_share(1.0)
    shutil.rmtree(folder)


@cache
def _part(source: str, most: tuple[tuple[str, int], ...], split: str) -> list[Example]:
    return Corpus(source, dict(most)).part(split)


def over_seeds(more: Sequence[Found], less: Sequence[Found]) -> tuple[np.ndarray, np.ndarray]:
    """What `right_answers` gives of two models, for the seeds that both have, in order."""
    by_seed = [{run["seed"]: run for run in runs} for runs in (more, less)]
    seeds = sorted(by_seed[0].keys() & by_seed[1].keys())
    first, second = (right_answers([runs[seed] for seed in seeds]) for runs in by_seed)
    return first, second


def finished(trials: Sequence[Trial], out: Path) -> list[Trial]:
    """Those whose numbers are there."""
    return [trial for trial in trials if _kept(out, trial).exists()]


def answered_right(model: Classifier, examples: Sequence[Example]) -> list[bool]:
    """Whether the model's answer to each text is its label."""
    logits = evaluate_rows(model, Scheduler(default_budget(model.device)), model.encode(examples).rows)
    return (logits.argmax(-1) == gold_numbers(examples, model.labels, "single_label")).tolist()


def right_answers(runs: Sequence[Found]) -> np.ndarray:
    """[run text]: 100 where a run's model was right on a test text, else 0, so that means are points."""
    return 100 * np.array([[int(one) for one in run["right"]] for run in runs])


def _kept(out: Path, trial: Trial) -> Path:
    return out / "runs" / f"{trial.name}.json"
