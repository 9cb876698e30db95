"""The one training loop: epochs of steps, checkpoints, and the best epoch, which dev alone chooses.

A run that is killed goes on from its last checkpoint and ends with the same bytes, if the number of threads is the same.
The global random state is restored at the end. Trainings in several threads run one after another.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.json_text import json_digest
from pellucid.core.foundation.memory import check_memory
from pellucid.core.foundation.progress import Progress
from pellucid.core.passes.batch import Batch
from pellucid.core.passes.edited_rows import evaluate_rows
from pellucid.core.passes.packing import scheduler_for
from pellucid.models.classifiers.classifier import Classifier
from pellucid.training.best_weights import BestWeights
from pellucid.training.checkpoint import TrainingState, best_epoch, load_checkpoint, save_checkpoint
from pellucid.training.objectives_on_dev import objectives_on_dev
from pellucid.training.process_draws import drawing_from
from pellucid.training.recipe import Recipe
from pellucid.training.settled_epochs import settled_in
from pellucid.training.span_count import span_count_on_dev
from pellucid.training.spans_on_dev import spans_on_dev
from pellucid.training.steps import Steps, epoch_batches, steps_of
from pellucid.training.trained_folder import TrainedFolder
from pellucid.training.training_loss import TrainingLoss, gold_numbers, right_answers
from pellucid.training.watch import Watched
from pellucid.training.word_choice_loss import set_threshold


@dataclass(frozen=True)
class Run:
    """One training run: an untrained classifier, the encoded train and dev texts, the recipe and the folder.

    fingerprint: names texts, plan and recipe. encoder_files: a digest of the files that the encoder was read from. settings: of
    plan and recipe, for messages. watched: what is seen of the model while it is trained; None: nothing.
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


def train(run: Run) -> list[dict[str, float]]:
    """Train the run's network in place, leave the best epoch's weights in it, return the numbers of each epoch."""
    run.folder.create()
    with drawing_from(run.recipe.seed, run.classifier.device):
        state = _train(run)
    run.best_weights.check({state.best})
    run.best_weights.load_into(run.classifier.network)
    run.classifier.network.eval()
    return state.history


def _train(run: Run) -> TrainingState:
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


def _starting_state(run: Run, steps: Steps) -> TrainingState:
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


def _restore_span_count(run: Run, steps: Steps, state: TrainingState) -> None:
    count = steps.training_loss.span_count
    if count is None:
        return
    try:
        count.restore(state.span_count)
    except ValueError as error:
        raise BadFile(
            f"{run.folder.checkpoint} is no checkpoint of ours ({error}); remove it to start again."
        ) from None


def _train_epoch(run: Run, steps: Steps, state: TrainingState) -> None:
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
    """The loss of a step; raises `NotEnoughMemory` where its texts are too many at once. What was saved before goes on."""
    try:
        return steps.step(indices, done)
    except (RuntimeError, MemoryError) as error:
        check_memory(error, f"learn from {len(indices)} texts at once (batch_size)")
        raise


def _look(run: Run, state: TrainingState) -> None:
    """Before the checkpoint of the step, so that a run that goes on from it has all looks before it."""
    if run.watched is not None:
        done = state.epoch * run.steps_an_epoch + state.step
        run.watched.look(done, run.classifier, run.dev.examples)


def _save(run: Run, steps: Steps, state: TrainingState) -> None:
    count = steps.training_loss.span_count
    state.span_count = {} if count is None else count.record()
    save_checkpoint(run.folder.checkpoint, run.classifier.network, steps.optimizer, state)


def _finish_epoch(run: Run, state: TrainingState) -> None:
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


def _on_dev(run: Run) -> dict[str, float]:
    classifier = run.classifier
    logits = evaluate_rows(classifier, scheduler_for(classifier), run.dev.rows)
    gold = gold_numbers(run.dev.examples, classifier.labels, classifier.problem)
    losses = TrainingLoss(classifier.problem, {}).label_loss(logits, gold)
    right = right_answers(logits, gold, classifier.problem)
    numbers = {"dev_accuracy": float(right.double().mean()), "dev_loss": float(losses.mean())}
    numbers |= objectives_on_dev(classifier, run.dev, run.recipe)
    if run.recipe.spans is not None:
        numbers |= span_count_on_dev(classifier, run.dev, run.recipe.batch_size)
    return numbers | spans_on_dev(classifier, run.dev).record()
