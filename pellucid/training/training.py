"""What a training run is: labelled texts, the plan of a model and a recipe; and what names it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from pellucid.core.foundation.errors import BadInput
from pellucid.core.text.example import Example
from pellucid.core.text.trained_texts import text_digest
from pellucid.models.classifiers.source_digest import source_digest
from pellucid.models.composed.plan import Plan
from pellucid.models.composed.trained_texts_file import read_trained_texts
from pellucid.training.objective import gold_numbers
from pellucid.training.recipe import Recipe
from pellucid.training.trained_folder import TrainedFolder

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
        record = json.dumps(
            [texts, self.plan.record(), self.recipe.record()], ensure_ascii=False, sort_keys=True
        )
        return blake2b(record.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()

    def encoder_files(self) -> str:
        """A digest of the encoder's files; "" where the plan names it by another digest, or the files are not here."""
        return "" if self.plan.started_from else source_digest(self.plan.encoder)

    def text_digests(self) -> set[str]:
        """Digests of the train and dev texts, and of those that the encoder was trained with before."""
        digests = {text_digest(example) for split in SPLITS for example in self.parts[split]}
        return digests | read_trained_texts(self.plan.encoder)

    def check_labels(self) -> None:
        """Raise `BadInput` for an empty part, or a label that is not among the classes."""
        for split in SPLITS:
            if not self.parts[split]:
                raise BadInput(f"The {split} part has no examples.")
            gold_numbers(self.parts[split], self.plan.labels, self.plan.problem)
