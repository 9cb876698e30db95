"""The explanations of a layer analysis, kept in a folder part by part; interrupted work goes on after its last part.

    question.json             what is explained; a folder with another question is refused
    parts/00-00-0003.parquet  the explanations of the fourth part's texts by the first training of the first model
    pellucid-manifest.json    digests of these files, once there are all; see `base/output_folder.py`

A part is there whole or not at all. Unfinished writes of a killed process are removed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pellucid.base.errors import BadFile
from pellucid.base.json_text import json_digest
from pellucid.base.progress import Progress
from pellucid.layers.question import PART, LayerQuestion
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import example_record
from pellucid.results.question_folder import PARTS, prepare_folder, question_folder
from pellucid.results.storage import read, save

STAGE = "explaining layers"
Questions = Mapping[str, Sequence[LayerQuestion]]  # the model's name -> a question a training


@dataclass(frozen=True)
class LayerFolder:
    """The questions of one analysis, and the folder that keeps their explanations; None: they are kept in memory."""

    path: Path | None
    questions: Questions

    def explanations(self, progress: Progress) -> dict[str, list[list[Explanation]]]:
        """Model -> [training][text]; parts that are in the folder are read, the others computed and written."""
        if self.path is None:
            return self._explanations(progress)
        question = self._question()
        parts = [
            f"{PARTS}/{number:02d}-{training:02d}-{part:04d}.parquet"
            for number, questions in enumerate(self.questions.values())
            for training, one in enumerate(questions)
            for part in range(one.n_parts)
        ]
        folder = question_folder(self.path, "layers", question, parts)
        state = folder.begin()
        prepare_folder(self.path, question, "layer analysis")
        explanations = self._explanations(progress)
        folder.end(state)
        return explanations

    def _explanations(self, progress: Progress) -> dict[str, list[list[Explanation]]]:
        each = [question for questions in self.questions.values() for question in questions]
        total, done = sum(len(question.examples) for question in each), 0
        explanations: dict[str, list[list[Explanation]]] = {}
        for number, (name, questions) in enumerate(self.questions.items()):
            explanations[name] = []
            for training, question in enumerate(questions):
                of_training: list[Explanation] = []
                for part in range(question.n_parts):
                    of_training += self._part(question, f"{number:02d}-{training:02d}-{part:04d}", part)
                    progress(STAGE, done + len(of_training), total)
                explanations[name].append(of_training)
                done += len(of_training)
        return explanations

    def _part(self, question: LayerQuestion, name: str, number: int) -> list[Explanation]:
        if self.path is None:
            return question.explained(number)
        file = self.path / PARTS / f"{name}.parquet"
        if file.exists():
            explanations = read(file)
            _check_part(file, question, number, explanations)
            return explanations
        explanations = question.explained(number)
        save(explanations, file)
        return explanations

    def _question(self) -> dict[str, object]:
        examples = next(iter(self.questions.values()))[0].examples
        models = {name: [one.facts() for one in questions] for name, questions in self.questions.items()}
        texts = f"{len(examples)} with digest {json_digest([example_record(one) for one in examples])}"
        return {"texts": texts, "texts in a part": PART, "models": models}


def _check_part(
    file: Path, question: LayerQuestion, number: int, explanations: Sequence[Explanation]
) -> None:
    """Raise `BadFile` where a part is of other texts or of another model."""
    same_texts = [one.example for one in explanations] == list(question.part(number))
    if not same_texts or {one.model_hash for one in explanations} != {question.request.model_hash}:
        raise BadFile(f"{file} is of other texts or of another model; remove it to have it made again.")
