"""From a frozen model and texts to a lens in a folder; a finished folder is loaded, an unfinished one goes on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from torch import nn

from pellucid.base.errors import BadFile
from pellucid.base.files import check_folder, disk_errors, remove_unfinished
from pellucid.base.json_text import json_digest
from pellucid.base.output_folder import OutputFolder
from pellucid.base.packages import cached_property
from pellucid.base.processes import Progress
from pellucid.base.torch_state import OwnDraws
from pellucid.layers.lens_stage import LensRecipe, Stage, train_stage
from pellucid.layers.lens_translators import FrozenStates, HeadLoss, TranslatorLoss, evenly, lens_rows, lens_table
from pellucid.models.folders.configuration import read_object
from pellucid.models.language_heads.lens import (
    Lens,
    LensRecord,
    Translators,
    check_has_states,
    layer_widths,
    tensors_digest,
    vocabulary_digest,
)
from pellucid.models.language_heads.lens_folder import RECORD, WEIGHTS, is_lens, lens_tensors, load_lens, save_lens
from pellucid.models.language_heads.lens_table import LensTable
from pellucid.models.language_heads.masked_head import MaskedHead, word_vectors_of
from pellucid.run.batch import Row
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.training.objectives.masked_words import Masking

# The folder that a lens is written to: lens.json is written last, so the lens is whole when it is there.

OTHERS = "config.json"  # of a model
LASTING = dict.fromkeys(
    (RECORD, WEIGHTS), "has damage that only training mends; put the file back, or remove the folder to train again"
)
OTHERWISE = "of another model, other texts or another recipe; give another folder, or remove this one"


@dataclass(frozen=True)
class LensOut:
    """A lens's folder, also before and while it is trained."""

    path: Path

    def checkpoint(self, stage: str) -> Path:
        """The file that an interrupted stage goes on from."""
        return self.path / f"{stage}.checkpoint.safetensors"

    def files(self, fingerprint: str) -> OutputFolder:
        """What the training of this name makes in the folder."""
        return OutputFolder(self.path, "lens", fingerprint, list(LASTING), lasting=LASTING)

    @property
    def is_complete(self) -> bool:
        """Whether a lens is here."""
        return is_lens(self.path)

    def load(self, fingerprint: str) -> Lens:
        """The lens that is here; raises `BadFile` where it is of another run, or broken."""
        if read_object(self.path / RECORD).get("fingerprint") != fingerprint:
            raise BadFile(f"{self.path} holds a lens {OTHERWISE}.")
        return load_lens(self.path)

    def create(self, fingerprint: str) -> None:
        """Make the folder; raises `BadFile` where a model or another run's lens is, or where nothing can be written."""
        if self.files(fingerprint).holds_other_work():
            raise BadFile(f"{self.path} holds what is left of a lens {OTHERWISE}.")
        if (self.path / OTHERS).exists():
            raise BadFile(f"{self.path} holds a model; give another folder for the lens, such as {self.path}-lens.")
        check_folder(self.path)
        with disk_errors("write", self.path):
            self.path.mkdir(parents=True, exist_ok=True)

    def save(self, lens: Lens) -> None:
        """Write the lens."""
        save_lens(lens, self.path)

    def remove_working_files(self, stages: tuple[str, ...]) -> None:
        """Remove what an interrupted run goes on from, once the lens is saved, and what killed writes left."""
        for path in map(self.checkpoint, stages):
            path.unlink(missing_ok=True)
        remove_unfinished(self.path)


HEAD, TRANSLATORS = "head", "translators"


@dataclass(frozen=True, eq=False)
class LensRun:
    """A training of a lens.

    model: is not changed. parts: "train" to learn from, "dev" to choose translators and to make the table. trained_on:
    what the model is, as lens.json says.
    """

    model: Model
    parts: Mapping[str, Sequence[Example]]
    recipe: LensRecipe
    out: LensOut
    trained_on: str
    progress: Progress

    @cached_property
    def fingerprint(self) -> str:
        """32 hexadecimal digits that name the run: model, texts and recipe."""
        texts = [[example.segments for example in self.parts[part]] for part in ("train", "dev")]
        return json_digest([self.model.hash, self.trained_on, texts, self.recipe.record()])

    @cached_property
    def states(self) -> FrozenStates:
        """The model's states."""
        return FrozenStates(self.model)

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Numbers of a state of each layer."""
        return layer_widths(self.model)

    @cached_property
    def train_rows(self) -> list[Row]:
        """What is learnt from."""
        return lens_rows(self.model, self.parts["train"], self.recipe.sequence_length, "train")

    @cached_property
    def dev_rows(self) -> list[Row]:
        """What the table is made of."""
        rows = lens_rows(self.model, self.parts["dev"], self.recipe.sequence_length, "dev")
        return evenly(rows, self.recipe.dev_rows)

    @cached_property
    def networks(self) -> tuple[MaskedHead, Translators]:
        """The untrained parts, drawn from the seed."""
        vectors = word_vectors_of(self.model)
        with OwnDraws(self.recipe.seed):
            head, translators = MaskedHead(self.widths[-1], vectors), Translators(self.widths)
        return head.to(self.model.device), translators.to(self.model.device)


def train_lens(
    model: Model,
    parts: Mapping[str, Sequence[Example]],
    recipe: LensRecipe,
    folder: Path,
    trained_on: str,
    *,
    progress: Progress,
) -> Lens:
    """Train a lens on the states of a model, save it to the folder and return it.

    parts, trained_on: as in `LensRun`. folder: a finished one of this training is loaded, an unfinished one goes on.
    With the same number of threads an interrupted training ends with the same bytes. Raises `ModelCannot` for a model
    without hidden states or word embeddings, `BadInput` for texts that are too short to hide a piece of, `BadFile`
    where the folder holds something else, `BadSetting` where the training diverges.
    """
    check_has_states(model)
    run = LensRun(model, parts, recipe, LensOut(folder), trained_on, progress)
    files = run.out.files(run.fingerprint)
    state = files.begin()
    if not run.out.is_complete:
        if run.train_rows and run.dev_rows:  # texts that cannot be read are reported before anything is written
            run.out.create(run.fingerprint)
        run.out.save(_trained(run))
    lens = run.out.load(run.fingerprint)
    run.out.remove_working_files((HEAD, TRANSLATORS))
    files.end(state)
    return lens.to(model.device)


def _trained(run: LensRun) -> Lens:
    head, translators = run.networks
    mask = run.model.blank_ids()["mask"]
    masking = Masking(run.recipe.mask_share, mask, run.model.vocabulary.cpu(), run.recipe.seed)
    head_loss = HeadLoss(head, run.states, masking)
    dev = run.dev_rows
    train_stage(
        Stage(
            "training the head",
            head,
            run.recipe.head_steps,
            head_loss.backward,
            lambda: head_loss.judge(dev, run.recipe.batch_size),
            run.out.checkpoint(HEAD),
            json_digest([run.fingerprint, HEAD]),
        ),
        run.train_rows,
        run.recipe,
        run.progress,
    )
    head.requires_grad_(False)
    table = _train_translators(run, head, translators)
    layers = [recovery.layer for recovery in table.layers if recovery.translated]
    own_translators = {layer: translators.of_layer[layer] for layer in layers}
    return Lens(head, own_translators, _record(run, head, own_translators, table))


def _train_translators(run: LensRun, head: MaskedHead, translators: Translators) -> LensTable:
    """Train the translators under the trained head; returns how well they do on dev."""
    recipe = run.recipe
    loss = TranslatorLoss(head, translators, run.states, recipe.pieces_a_step, recipe.seed)
    if len(translators.of_layer):
        train_stage(
            Stage(
                "training the translators",
                translators,
                recipe.translator_steps,
                loss.backward,
                lambda: (0.0, 0.0),  # the table, which is made again after an interruption, says more
                run.out.checkpoint(TRANSLATORS),
                json_digest([run.fingerprint, TRANSLATORS]),
            ),
            run.train_rows,
            recipe,
            run.progress,
        )
    return lens_table(head, translators, run.states, run.dev_rows, run.progress)


def _record(run: LensRun, head: MaskedHead, translators: Mapping[int, nn.Module], table: LensTable) -> LensRecord:
    return LensRecord(
        model=run.model.name,
        model_hash=run.model.hash,
        vocabulary=vocabulary_digest(run.model),
        trained_on=run.trained_on,
        widths=run.widths,
        vector_width=head.word_vectors.shape[1],
        n_tokens=head.n_tokens,
        recipe=run.recipe.record(),
        fingerprint=run.fingerprint,
        weights=tensors_digest(lens_tensors(head, translators)),
        n_texts=len(run.parts["train"]),
        table=table,
    )
