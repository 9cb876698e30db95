"""The one training loop: batches, loss, steps, checkpoints; the best epoch is chosen on dev alone.

A run that is killed goes on from its last checkpoint and ends with the same bytes, given the same number of
threads. The global random state is as before when it ends. Trainings in several threads run one after another.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import RLock

import torch
from safetensors.torch import load_file
from torch import Tensor

from pellucid.core.foundation.errors import BadSetting
from pellucid.core.foundation.files import disk_errors, remove_unfinished, write_text
from pellucid.core.foundation.progress import Progress
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.edited_rows import evaluate_rows
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.scheduler import Scheduler
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.joined_windows import LONGEST
from pellucid.training.best_weights import check_best, save_best
from pellucid.training.checkpoint import Progressed, best_epoch, load_checkpoint, save_checkpoint
from pellucid.training.objective import Objective, gold_numbers, right_answers
from pellucid.training.order import epoch_batches
from pellucid.training.recipe import Recipe
from pellucid.training.selection import selection_of, settle
from pellucid.training.spans_on_dev import spans_on_dev

_DRAWING = RLock()  # dropout draws from the process's one random state: of several trainings all but one wait
CHECKPOINT, BEST, LOG = "checkpoint.safetensors", "best.safetensors", "metrics.jsonl"


@dataclass(frozen=True)
class Run:
    """One training run: a fresh classifier, the encoded train and dev parts, the recipe and where it is kept."""

    classifier: Classifier
    train: Batch
    dev: Batch
    recipe: Recipe
    folder: Path
    fingerprint: str
    progress: Progress


def train(run: Run) -> list[dict[str, float]]:
    """Train the run's network in place, leave the best epoch's weights in it, return the epochs' numbers."""
    with disk_errors("write", run.folder):
        run.folder.mkdir(parents=True, exist_ok=True)
    devices = [run.classifier.device] if run.classifier.device.type == "cuda" else []
    with _DRAWING, torch.random.fork_rng(devices=devices):
        torch.manual_seed(run.recipe.seed)
        progressed = _train(run)
    check_best(run.folder / BEST, run.fingerprint, {progressed.best})
    run.classifier.network.load_state_dict(load_file(run.folder / BEST))
    run.classifier.network.eval()
    return progressed.history


def write_log(folder: Path, history: Sequence[Mapping[str, float]]) -> None:
    """Write the epochs' numbers, a line each."""
    write_text(folder / LOG, "".join(json.dumps(entry) + "\n" for entry in history))


def tidy(folder: Path) -> None:
    """Remove what a run keeps to go on from, once the model itself is saved; also what a killed write left."""
    for path in (folder / CHECKPOINT, folder / BEST):
        if path.exists():  # in a folder that may only be read, removing nothing is an error too
            path.unlink()
    remove_unfinished(folder)


def _train(run: Run) -> Progressed:
    network, recipe = run.classifier.network, run.recipe
    optimizer = _optimizer(run)
    progressed = Progressed(run.fingerprint)
    steps = -(-len(run.train) // recipe.batch_size)
    total = recipe.epochs * steps
    if (run.folder / CHECKPOINT).exists():
        progressed = load_checkpoint(
            run.folder / CHECKPOINT, network, optimizer, run.fingerprint, recipe.epochs, steps
        )
        if progressed.best >= 0:  # a run killed at an epoch's end may have kept that epoch's already
            check_best(run.folder / BEST, run.fingerprint, {progressed.best, progressed.epoch})
    step = _stepper(run, optimizer, total)
    while progressed.epoch < recipe.epochs:
        batches = epoch_batches(run.train.lengths, recipe.batch_size, recipe.seed, progressed.epoch)
        network.train()
        while progressed.step < len(batches):
            done = progressed.epoch * len(batches) + progressed.step
            progressed.loss_sum += step(batches[progressed.step], done)
            progressed.step += 1
            run.progress("training", done + 1, total)
            if progressed.step % recipe.checkpoint_every == 0:
                save_checkpoint(run.folder / CHECKPOINT, network, optimizer, progressed)
        _finish_epoch(run, progressed, len(batches))
        save_checkpoint(run.folder / CHECKPOINT, network, optimizer, progressed)
    return progressed


def _optimizer(run: Run) -> torch.optim.Optimizer:
    """AdamW; no decay on biases and norms, a higher rate for the parts that were not pretrained."""
    groups: dict[tuple[bool, bool], list[Tensor]] = {}
    for name, parameter in run.classifier.network.named_parameters():
        groups.setdefault((name.startswith("encoder."), parameter.ndim > 1), []).append(parameter)
    recipe = run.recipe
    rates = [
        {
            "params": parameters,
            "lr": recipe.learning_rate * (1 if pretrained else recipe.new_parts_factor),
            "weight_decay": recipe.weight_decay if matrix else 0.0,
        }
        for (pretrained, matrix), parameters in sorted(groups.items())
    ]
    # On a processor the unfused step took a third of MiniLM's training time, the fused one a tenth.
    return torch.optim.AdamW(rates, betas=(0.9, recipe.beta2), fused=True)


def _stepper(run: Run, optimizer: torch.optim.Optimizer, total: int) -> Callable[[list[int], int], float]:
    """One optimizer step on these texts, as step number `done` of all; returns the mean loss.

    Long texts take part in it a few at a time, so that memory does not grow with the batch: losses and penalties are means
    over texts, so their gradients add up to that of the whole batch. (The price of reading, where a model chooses its
    words, goes by the share that a part reads.)
    """
    network, recipe = run.classifier.network, run.recipe
    objective = Objective(run.classifier.problem, recipe.penalties, selection_of(network, total))
    gold = gold_numbers(run.train.examples, run.classifier.labels, run.classifier.problem)
    full_rates = [group["lr"] for group in optimizer.param_groups]

    def step(indices: list[int], done: int) -> float:
        for group, rate in zip(optimizer.param_groups, full_rates, strict=True):
            group["lr"] = rate * _rate_share(done, total, recipe.warmup)
        optimizer.zero_grad()
        loss = sum(backward(part, len(part) / len(indices), done) for part in parts_of(indices))
        if recipe.clip > 0:
            torch.nn.utils.clip_grad_norm_(network.parameters(), recipe.clip)
        optimizer.step()
        if objective.selection is not None:
            objective.selection.end_step()
        return loss

    def parts_of(indices: list[int]) -> list[list[int]]:
        lengths = [run.train.lengths[index] for index in indices]
        if len(lengths) * max(lengths) <= LONGEST:
            return [indices]
        packs = Scheduler(LONGEST).packs(lengths)
        return [[indices[number] for number in pack] for pack in packs]

    def backward(indices: list[int], share: float, done: int) -> float:
        with recipe.autocast(run.classifier.device):
            output = network(**run.classifier.place([run.train.rows[index] for index in indices]))
        loss = share * objective.loss(output, gold[indices].to(run.classifier.device))
        if not torch.isfinite(loss):
            raise BadSetting(
                f"Training diverged at step {done + 1}; give less than learning_rate={recipe.learning_rate}."
            )
        loss.backward()
        return float(loss.detach())

    return step


def _rate_share(done: int, total: int, warmup: float) -> float:
    """The share of the full rate at a step: up in a line over the warm-up, then down in a line to 0."""
    rising = max(1, round(warmup * total))
    return (done + 1) / rising if done < rising else (total - done) / max(1, total - rising)


def _finish_epoch(run: Run, progressed: Progressed, steps: int) -> None:
    """Judge the epoch on dev, keep its weights if they are the best so far, and write the log."""
    settle(run.classifier, run.train.rows)
    numbers = {"epoch": progressed.epoch, "train_loss": progressed.loss_sum / steps, **_on_dev(run)}
    progressed.history.append(numbers)
    best = best_epoch(progressed.history)
    if best != progressed.best:
        progressed.best = best
        save_best(run.folder / BEST, run.classifier.network, run.fingerprint, best)
    write_log(run.folder, progressed.history)
    progressed.epoch, progressed.step, progressed.loss_sum = progressed.epoch + 1, 0, 0.0


def _on_dev(run: Run) -> dict[str, float]:
    classifier = run.classifier
    logits = evaluate_rows(classifier, scheduler_for(classifier), run.dev.rows)
    gold = gold_numbers(run.dev.examples, classifier.labels, classifier.problem)
    losses = Objective(classifier.problem, {}).label_loss(logits, gold)
    right = right_answers(logits, gold, classifier.problem)
    numbers = {"dev_accuracy": float(right.double().mean()), "dev_loss": float(losses.mean())}
    return numbers | spans_on_dev(classifier, run.dev).record()
