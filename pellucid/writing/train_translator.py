"""From pairs of texts to a translator in a folder; a finished folder is loaded, an unfinished one goes on with the same
bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Any

import torch

from pellucid.base.errors import BadSetting
from pellucid.base.json_text import json_digest
from pellucid.base.output_folder import FolderState, OutputFolder, check_as_before
from pellucid.base.packages import cached_property
from pellucid.base.processes import Progress
from pellucid.models.classifiers.hooks import evaluating
from pellucid.models.classifiers.in_memory import network_digest
from pellucid.models.composed.composed import missing_tokenizer_files, read_trained_texts, save_tokenizer
from pellucid.models.load import move
from pellucid.models.translation.translator_folder import TranslatorParts
from pellucid.text.example import Example, text_digest
from pellucid.training.checkpoint import TrainingState, best_epoch, load_checkpoint, save_checkpoint
from pellucid.training.loop import drawing_from
from pellucid.training.trained_folder import remake_notes
from pellucid.writing.translation_loss import (
    EncodedPairs,
    TranslatorOut,
    batches,
    encode_pairs,
    epoch_order,
    history_of,
    piece_losses,
    translation_loss,
)
from pellucid.writing.translator_plan import (
    TranslationRecipe,
    TranslatorPlan,
    untrained_translator,
)

Parts = Mapping[str, Sequence[Example]]


@dataclass(frozen=True, eq=False)
class TranslatorRun:
    """A training of a translator. parts: the untrained network and its tokenizer."""

    parts: TranslatorParts
    train: EncodedPairs
    dev: EncodedPairs
    recipe: TranslationRecipe
    out: TranslatorOut
    seal: str
    progress: Progress

    @property
    def network(self) -> Any:  # an encoder–decoder of some family
        """What is trained."""
        return self.parts.network

    @property
    def device(self) -> torch.device:
        """Where it is trained."""
        return next(self.network.parameters()).device

    @cached_property
    def steps_an_epoch(self) -> int:
        """The number of batches, the same in every epoch."""
        return len(batches(self.train.lengths, self.recipe.batch_pieces))

    def tensors(self, pairs: EncodedPairs, indices: Sequence[int]) -> dict[str, torch.Tensor]:
        """What the network takes of these pairs."""
        return pairs.tensors(indices, self.network.config.pad_token_id, self.device)


def train_translator(
    parts: Parts,
    plan: TranslatorPlan,
    recipe: TranslationRecipe,
    folder: Path,
    device: str,
    *,
    progress: Progress,
) -> TranslatorParts:
    """Train on parts["train"], choose the epoch on parts["dev"], save to the folder and return the translator.

    folder: a finished one of this training is loaded, an unfinished one goes on. Raises `BadInput` for pairs that
    cannot be read whole, `BadFile` when the folder holds something else, `BadSetting` where the training diverges.
    """
    out = TranslatorOut(folder)
    texts = [[example.segments for example in parts[part]] for part in ("train", "dev")]
    settings = {"plan": plan.record(), "recipe": recipe.record()}
    fingerprint = json_digest([texts, *settings.values()])
    files, remade = out.files(fingerprint), list[str]()
    state = files.begin()
    if out.is_complete:
        out.check_run(fingerprint, settings)
        _remake_tokenizer(parts, plan, recipe, files, state)
        finished = out.load(fingerprint, settings)
        if out.is_writable and not state.is_whole:
            remade = remake_notes(files, history_of(finished), _digests(parts, plan))
    else:
        run = _run(parts, plan, recipe, out, fingerprint, progress, device)
        out.create(fingerprint)
        with drawing_from(recipe.seed, run.device):
            history = _train(run)
        out.save(_trained(run, fingerprint, plan, history), _digests(parts, plan))
        finished = out.load(fingerprint, settings)
    out.remove_working_files()
    files.end(state, remade)
    move(finished.network, device)
    return finished


def _remake_tokenizer(
    parts: Parts, plan: TranslatorPlan, recipe: TranslationRecipe, files: OutputFolder, state: FolderState
) -> None:
    """Write the tokenizer's files again that are missing, learnt from the same texts or read where they came from."""
    names = missing_tokenizer_files(files.path, state.damaged)
    if names:
        save_tokenizer(untrained_translator(plan, parts["train"], recipe.seed).tokenizer, files.path, names)
        check_as_before(files, state, names)


def _run(
    parts: Parts,
    plan: TranslatorPlan,
    recipe: TranslationRecipe,
    out: TranslatorOut,
    fingerprint: str,
    progress: Progress,
    device: str,
) -> TranslatorRun:
    begin = untrained_translator(plan, parts["train"], recipe.seed)
    most = begin.network.config.max_position_embeddings - 1
    encoded = {part: encode_pairs(begin.tokenizer, parts[part], most, part) for part in ("train", "dev")}
    move(begin.network, device)
    return TranslatorRun(begin, encoded["train"], encoded["dev"], recipe, out, fingerprint, progress)


def _train(run: TranslatorRun) -> list[dict[str, float]]:
    """Make all epochs that are left and leave the mean of the best ones in the network."""
    optimizer = torch.optim.Adam(run.network.parameters(), lr=0.0, betas=(0.9, 0.98), eps=1e-9)
    state = _starting_state(run, optimizer)
    while state.epoch < run.recipe.epochs:
        _train_epoch(run, optimizer, state)
        _finish_epoch(run, state)
        save_checkpoint(run.out.checkpoint, run.network, optimizer, state)
    first = max(0, state.best + 1 - run.recipe.averaged)
    run.out.load_mean(run.network, range(first, state.best + 1), run.seal)
    return state.history


def _starting_state(run: TranslatorRun, optimizer: torch.optim.Optimizer) -> TrainingState:
    if not run.out.checkpoint.exists():
        return TrainingState(run.seal)
    return load_checkpoint(
        run.out.checkpoint,
        run.network,
        optimizer,
        fingerprint=run.seal,
        epochs=run.recipe.epochs,
        steps=run.steps_an_epoch,
    )


def _train_epoch(run: TranslatorRun, optimizer: torch.optim.Optimizer, state: TrainingState) -> None:
    """Make the steps of an epoch that are left, with a checkpoint after every so many."""
    recipe = run.recipe
    order = epoch_order(run.train.lengths, recipe.batch_pieces, recipe.seed, state.epoch)
    run.network.train()
    while state.step < len(order):
        done = state.epoch * len(order) + state.step
        state.loss_sum += _step(run, optimizer, order[state.step], done)
        state.step += 1
        run.progress("training", done + 1, recipe.epochs * len(order))
        if state.step % recipe.checkpoint_every == 0 and state.step < len(order):
            save_checkpoint(run.out.checkpoint, run.network, optimizer, state)


def _step(run: TranslatorRun, optimizer: torch.optim.Optimizer, indices: Sequence[int], done: int) -> float:
    recipe = run.recipe
    for group in optimizer.param_groups:
        group["lr"] = recipe.rate(done)
    optimizer.zero_grad()
    with recipe.autocast(run.device):
        loss = translation_loss(run.network, run.tensors(run.train, indices), recipe.label_smoothing, recipe.penalties)
    loss.backward()
    value = float(loss.detach())
    if not isfinite(value):
        raise BadSetting(f"Training diverged at step {done + 1}; give less than learning_rate={recipe.learning_rate}.")
    if recipe.clip > 0:
        torch.nn.utils.clip_grad_norm_(run.network.parameters(), recipe.clip)
    optimizer.step()
    return value


def _finish_epoch(run: TranslatorRun, state: TrainingState) -> None:
    """Judge the epoch on dev, save its weights, and write the log."""
    numbers = {"train_loss": state.loss_sum / run.steps_an_epoch, **_on_dev(run)}
    state.history.append({"epoch": state.epoch, **numbers})
    run.out.epoch_weights(state.epoch, run.seal).save(run.network, state.epoch)
    state.best = best_epoch(state.history)
    run.out.write_log(state.history)
    state.epoch, state.step, state.loss_sum = state.epoch + 1, 0, 0.0


def _on_dev(run: TranslatorRun) -> dict[str, float]:
    """The mean loss of a written piece, which chooses the epoch, and the share of pieces that were the likeliest."""
    loss, right, count = 0.0, 0, 0
    with evaluating(run.network):
        for indices in batches(run.dev.lengths, run.recipe.batch_pieces):
            inputs = run.tensors(run.dev, indices)
            losses, likeliest = piece_losses(run.network, inputs)
            loss, right = loss + float(losses.sum()), right + int(likeliest.sum())
            count += sum(len(run.dev.targets[index]) for index in indices)
    mean = loss / count
    return {"dev_accuracy": right / count, "dev_loss": mean, "dev_objective": mean}


def _digests(parts: Parts, plan: TranslatorPlan) -> set[str]:
    """Those of the train and dev pairs, and of those that the translator was made with before."""
    digests = {text_digest(example) for part in ("train", "dev") for example in parts[part]}
    return digests if plan.start_from is None else digests | read_trained_texts(plan.start_from)


def _trained(
    run: TranslatorRun, fingerprint: str, plan: TranslatorPlan, history: list[dict[str, float]]
) -> TranslatorParts:
    """The translator with what its config.json says of its training."""
    record: dict[str, Any] = {
        "plan": plan.record(),
        "recipe": run.recipe.record(),
        "history": history,
        "fingerprint": fingerprint,
        "pairs": len(run.train),
        "weights": network_digest(run.network, []),
    }
    return TranslatorParts(run.network.eval(), run.parts.tokenizer, record)
