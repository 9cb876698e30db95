"""What a training run is: labelled texts, the plan of a model and a recipe; and what names it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from hashlib import blake2b

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.kinds import objectives
from pellucid.core.text.example import Example
from pellucid.core.text.trained_texts import text_digest
from pellucid.models.classifiers.source_digest import source_digest
from pellucid.models.composed.plan import Plan
from pellucid.models.composed.trained_texts_file import read_trained_texts
from pellucid.models.composed.vector_file import vector_file, vector_file_digest
from pellucid.training.recipe import Recipe
from pellucid.training.trained_folder import TrainedFolder
from pellucid.training.training_loss import gold_numbers

SPLITS = ("train", "dev")  # the parts that training sees


@dataclass(frozen=True)
class Training:
    """A training as its caller describes it.

    parts: "train" to learn from, "dev" to choose the epoch. folder: where the run and its model are written.
    """

    parts: Mapping[str, Sequence[Example]]
    plan: Plan
    recipe: Recipe
    folder: TrainedFolder

    def fingerprint(self) -> str:
        """Sixteen bytes, in hexadecimal, that name the run: its texts, plan and recipe."""
        texts = [[(example.segments, example.label) for example in self.parts[split]] for split in SPLITS]
        names = [texts, self.plan.record(), self.recipe.record(), *self._read_by_objectives()]
        record = json.dumps(names, ensure_ascii=False, sort_keys=True)
        return blake2b(record.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def _read_by_objectives(self) -> list[object]:
        """What objectives read besides texts and labels: people's marks, and the files of other models; [] of none."""
        entries = [objectives.get(name) for name, weight in self.recipe.objectives.items() if weight]
        read: list[object] = []
        if any(entry.facts["marks"] for entry in entries):
            read.append([[astuple(mark) for mark in one.rationales] for one in self.parts["train"]])
        for entry in (entry for entry in entries if entry.facts["model"]):
            settings = self.recipe.objective_settings.get(entry.name, {})
            read.append(source_digest(str(settings.get(entry.facts["model"], ""))))
        return read

    def encoder_files(self) -> str:
        """A digest of the encoder's files; "" where the plan names it by another digest, or the files are not here."""
        if vector_file(self.plan.encoder_settings) is not None:
            return vector_file_digest(self.plan.encoder_settings)
        return "" if self.plan.started_from else source_digest(self.plan.encoder)

    def text_digests(self) -> set[str]:
        """Digests of the train and dev texts, and of those that the encoder was trained with before."""
        digests = {text_digest(example) for split in SPLITS for example in self.parts[split]}
        return digests | read_trained_texts(self.plan.encoder)

    def check_labels(self) -> None:
        """Raise `BadInput` for an empty part, or a label that is not among the classes."""
        for split in SPLITS:
            if not self.parts[split]:
                raise BadInput(
                    f"The {split} part has no examples; give more texts, of which 15 % are for dev where they come from one file, or "
                    "a folder with train and dev."
                )
            gold_numbers(self.parts[split], self.plan.labels, self.plan.problem, split)
