"""The one training loop: epochs of steps, checkpoints, and the best epoch, which dev alone chooses.

A run that is killed goes on from its last checkpoint and ends with the same bytes, if the number of threads is the
same. The global random state is restored at the end. Trainings in several threads run one after another.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from threading import RLock

import torch

from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.json_text import json_digest
from pellucid.base.kinds import objectives
from pellucid.base.memory import check_memory
from pellucid.base.processes import Progress
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.composed.networks import Plan
from pellucid.run.batch import Batch
from pellucid.run.packing import scheduler_for
from pellucid.run.scheduler import evaluate_rows
from pellucid.training.checkpoint import (
    BestWeights,
    TrainingState,
    best_epoch,
    load_checkpoint,
    save_checkpoint,
)
from pellucid.training.objective import ObjectiveContext, StepPart, learnt_instead_of_labels, objectives_of
from pellucid.training.recipe import Recipe
from pellucid.training.span_count import FALL, span_count_on_dev, spans_on_dev
from pellucid.training.steps import Steps, epoch_batches, steps_of
from pellucid.training.trained_folder import TrainedFolder
from pellucid.training.training_loss import (
    TrainingLoss,
    gold_numbers,
    measured_on_dev,
    right_answers,
    set_threshold,
)
from pellucid.training.watch import Watched


@dataclass(frozen=True)
class TrainingRun:
    """One training run: an untrained classifier, the encoded train and dev texts, the recipe and the folder.

    fingerprint: names texts, plan and recipe. encoder_files: a digest of the files that the encoder was read from.
    settings: of plan and recipe, for messages. watched: what is seen of the model while it is trained; None: nothing.
    """

    classifier: Classifier
    train: Batch
    dev: Batch
    recipe: Recipe
    folder: TrainedFolder
    fingerprint: str
    encoder_files: str
    progress: Progress
    settings: Mapping[str, object]
    watched: Watched | None = None

    @property
    def seal(self) -> str:
        """Names the run and its encoder's files; training goes on only from a checkpoint with this seal."""
        return json_digest([self.fingerprint, self.encoder_files])

    @property
    def best_weights(self) -> BestWeights:
        """The weights of the best epoch so far, on disk."""
        return BestWeights(self.folder.best_weights, self.seal)

    @property
    def steps_an_epoch(self) -> int:
        """The number of batches that the train texts make; the last one may be smaller."""
        return -(-len(self.train) // self.recipe.batch_size)


def train(run: TrainingRun) -> list[dict[str, float]]:
    """Train the run's network in place, leave the best epoch's weights in it, return the numbers of each epoch."""
    run.folder.create()
    with drawing_from(run.recipe.seed, run.classifier.device):
        state = _train(run)
    run.best_weights.check({state.best})
    run.best_weights.load_into(run.classifier.network)
    run.classifier.network.eval()
    return state.history


def _train(run: TrainingRun) -> TrainingState:
    steps = steps_of(run.classifier, run.train, run.recipe, run.recipe.epochs * run.steps_an_epoch)
    state = _starting_state(run, steps)
    if run.watched is not None:
        run.watched.begin(state.epoch * run.steps_an_epoch + state.step)
    _look(run, state)
    while state.epoch < run.recipe.epochs:
        _train_epoch(run, steps, state)
        _finish_epoch(run, state)
        _save(run, steps, state)
    return state


def _starting_state(run: TrainingRun, steps: Steps) -> TrainingState:
    """The checkpoint's state, with weights and optimizer restored; a fresh one where there is no checkpoint."""
    if not run.folder.checkpoint.exists():
        return TrainingState(run.seal, settings=dict(run.settings))
    state = load_checkpoint(
        run.folder.checkpoint,
        run.classifier.network,
        steps.optimizer,
        fingerprint=run.seal,
        epochs=run.recipe.epochs,
        steps=run.steps_an_epoch,
        settings=run.settings,
    )
    if state.best >= 0:  # a run killed at an epoch's end may have saved that epoch's weights already
        run.best_weights.check({state.best, state.epoch})
    _restore_span_count(run, steps, state)
    state.settings = dict(run.settings)  # a file of an earlier version has none
    return state


def _restore_span_count(run: TrainingRun, steps: Steps, state: TrainingState) -> None:
    count = steps.training_loss.span_count
    if count is None:
        return
    try:
        count.restore(state.span_count)
    except ValueError as error:
        raise BadFile(
            f"{run.folder.checkpoint} is no checkpoint of ours ({error}); remove it to start again."
        ) from None


def _train_epoch(run: TrainingRun, steps: Steps, state: TrainingState) -> None:
    """Make the steps of an epoch that are left, with a checkpoint after every so many."""
    batches = epoch_batches(run.train.lengths, run.recipe.batch_size, run.recipe.seed, state.epoch)
    run.classifier.network.train()
    while state.step < len(batches):
        done = state.epoch * len(batches) + state.step
        state.loss_sum += _loss_of(steps, batches[state.step], done)
        state.step += 1
        _look(run, state)
        run.progress("training", done + 1, steps.total)
        if state.step % run.recipe.checkpoint_every == 0:
            _save(run, steps, state)


def _loss_of(steps: Steps, indices: list[int], done: int) -> float:
    """The loss of a step; raises `NotEnoughMemory` where its texts are too many at once. What was saved before goes
    on.
    """
    try:
        return steps.step(indices, done)
    except (RuntimeError, MemoryError) as error:
        check_memory(error, f"learn from {len(indices)} texts at once (batch_size)")
        raise


def _look(run: TrainingRun, state: TrainingState) -> None:
    """Before the checkpoint of the step, so that a run that goes on from it has all looks before it."""
    if run.watched is not None:
        done = state.epoch * run.steps_an_epoch + state.step
        run.watched.look(done, run.classifier, run.dev.examples)


def _save(run: TrainingRun, steps: Steps, state: TrainingState) -> None:
    count = steps.training_loss.span_count
    state.span_count = {} if count is None else count.record()
    save_checkpoint(run.folder.checkpoint, run.classifier.network, steps.optimizer, state)


def _finish_epoch(run: TrainingRun, state: TrainingState) -> None:
    """Judge the epoch on dev, save its weights if they are the best so far, and write the log."""
    set_threshold(run.classifier, run.train.rows)
    train_loss = state.loss_sum / run.steps_an_epoch
    settled = settled_in(run.recipe, state.epoch)
    state.history.append({"epoch": state.epoch, "train_loss": train_loss, **settled, **_on_dev(run)})
    best = best_epoch(state.history)
    if best != state.best:
        state.best = best
        run.best_weights.save(run.classifier.network, best)
    run.folder.write_log(state.history)
    state.epoch, state.step, state.loss_sum = state.epoch + 1, 0, 0.0


def _on_dev(run: TrainingRun) -> dict[str, float]:
    classifier = run.classifier
    logits = evaluate_rows(classifier, scheduler_for(classifier), run.dev.rows)
    gold = gold_numbers(run.dev.examples, classifier.labels, classifier.problem)
    losses = TrainingLoss(classifier.problem, {}).label_loss(logits, gold)
    right = right_answers(logits, gold, classifier.problem)
    numbers = {"dev_accuracy": float(right.double().mean()), "dev_loss": float(losses.mean())}
    if run.recipe.keep_best_by != "accuracy":
        numbers["dev_measure"] = measured_on_dev(run.recipe.keep_best_by, logits, gold, numbers["dev_loss"])
    numbers |= objectives_on_dev(classifier, run.dev, run.recipe)
    if run.recipe.spans is not None:
        numbers |= span_count_on_dev(classifier, run.dev, run.recipe.batch_size)
    return numbers | spans_on_dev(classifier, run.dev).record()


# What chooses the epoch where an objective stands in place of the labels: its losses on dev, not the labels'
# accuracy.


def objectives_on_dev(classifier: Classifier, dev: Batch, recipe: Recipe) -> dict[str, float]:
    """{"dev_objective": the weighted sum of mean losses on dev}, of those that replace the labels; {} where none
    does.
    """
    replacing = {
        name: weight
        for name, weight in recipe.objectives.items()
        if weight and objectives.get(name).facts["instead_of_labels"]
    }
    if not replacing:
        return {}
    replacements = objectives_of(ObjectiveContext(classifier, dev, recipe), replacing)
    network = classifier.network
    training = network.training
    network.eval()
    total = 0.0
    try:
        with torch.no_grad():
            for first in range(0, len(dev), recipe.batch_size):
                indices = range(first, min(first + recipe.batch_size, len(dev)))
                output = network(**classifier.place([dev.rows[index] for index in indices]))
                part = StepPart(indices, output, 0)
                total += sum(weight * float(each.losses(part).sum()) for weight, each in replacements)
    finally:
        network.train(training)
    return {"dev_objective": total / len(dev)}


# Dropout draws from the process's one random state: a training sets it, and puts it back.

_DRAWING = RLock()  # of several trainings all but one wait


@contextmanager
def drawing_from(seed: int, device: torch.device) -> Iterator[None]:
    """The random state of the process and the device begins with the seed, and is as before at the end."""
    devices = [device] if device.type == "cuda" else []
    with _DRAWING, torch.random.fork_rng(devices=devices):
        torch.manual_seed(seed)
        yield


# What begins later in a training: whether it may, and in which epochs all is in force; only these may be the best.


def check_beginnings(recipe: Recipe, plan: Plan) -> None:
    """Raise `BadSetting` where a later beginning would change nothing, or leave nothing to learn before it."""
    sharpens = any(recipe.penalties.values()) or plan.pooler_settings.get("n_heaviest") is not None
    if recipe.sharp_from and not sharpens:
        raise BadSetting(
            f"sharp_from={recipe.sharp_from:g} would change nothing: no penalty and no n_heaviest makes the weights "
            f"sharp; leave sharp_from away, or give a penalty."
        )
    if recipe.objectives_from and learnt_instead_of_labels(recipe):
        raise BadSetting(
            f"objectives_from={recipe.objectives_from:g} would leave the first steps without anything to learn, since "
            f"an objective stands in place of the labels; leave objectives_from away."
        )


def settled_in(recipe: Recipe, epoch: int) -> dict[str, float]:
    """{"settled": 1 or 0}, whether all was in force in every step of this epoch, the first being 0; {} where all is
    from the first step.

    A wanted number of spans is reached after a share of the steps; objectives may begin later, and weights become sharp
    later. The last epoch counts as settled.
    """
    begins = recipe.objectives_from if any(recipe.objectives.values()) else 0.0
    reached = FALL if recipe.spans is not None else 0.0
    first = max(begins, reached, recipe.sharp_from)
    if not first:
        return {}
    return {"settled": float(epoch >= first * recipe.epochs or epoch == recipe.epochs - 1)}
