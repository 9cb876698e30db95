"""The work of an attention analysis, kept in a folder part by part; interrupted work goes on after its last part.

    question.json        what is tested; a folder with another question is refused
    parts/00-0003.json   the fourth part's texts under the first model
    parts/00-NAME.json   a test of the whole corpus under the first model
    analysis.json        everything, once it is finished
    imitators/           models that a test trained, each in a folder of its own
    pellucid-manifest.json   digests of these files, once it is finished; see `base/output_folder.py`

A part is there whole or not at all. Unfinished writes of a killed process are removed.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pellucid.attention.layer_question import TransformerQuestion
from pellucid.attention.question import PART, AttentionQuestion
from pellucid.attention.record import ANALYSIS
from pellucid.base.errors import BadFile
from pellucid.base.files import write_text
from pellucid.base.json_text import is_sealed, json_digest, read_json, sealed, unsealed
from pellucid.base.output_folder import PARTS, OutputFolder, prepare_folder, question_folder
from pellucid.base.processes import Progress
from pellucid.results.explanation_record import example_record

STAGE = "testing attention"
IMITATORS = "imitators"  # the folder of trained models beside an analysis's parts
Records = list[dict[str, Any]]
Question = AttentionQuestion | TransformerQuestion


@dataclass(frozen=True)
class TestedModel:
    """texts: a record each. lines: test -> those of a test of the whole corpus."""

    texts: Records
    lines: Mapping[str, Records]


@dataclass(frozen=True)
class AttentionFolder:
    """The questions of one analysis by model, and the folder that keeps their answers; None: they are kept in
    memory.
    """

    path: Path | None
    questions: Mapping[str, Question]

    @property
    def files(self) -> OutputFolder | None:
        """What an analysis makes in its folder; None where the answers are kept in memory."""
        if self.path is None:
            return None
        files = [*(f"{PARTS}/{name}.json" for name in self._names()), ANALYSIS]
        return question_folder(self.path, "attention", self._question(), files, [f"{IMITATORS}/*/*"])

    def _names(self) -> list[str]:
        """Those of all parts."""
        numbered = [(f"{index:02d}", question) for index, question in enumerate(self.questions.values())]
        texts = [f"{prefix}-{part:04d}" for prefix, question in numbered for part in range(question.n_parts)]
        return [
            *texts,
            *(f"{prefix}-{call.entry.name}" for prefix, question in numbered for call in question.of_corpus),
        ]

    def tested(self, progress: Progress) -> dict[str, TestedModel]:
        """Model -> what was measured; parts that are in the folder are read, the others computed and written."""
        if self.path is not None:
            prepare_folder(self.path, self._question(), "attention analysis")
        total, done = sum(len(question.examples) for question in self.questions.values()), 0
        models = {}
        for index, (name, question) in enumerate(self.questions.items()):
            texts: Records = []
            for part in range(question.n_parts):
                texts += self._part(question, f"{index:02d}-{part:04d}", partial(question.tested, part))
                progress(STAGE, done + len(texts), total)
            done += len(texts)
            models[name] = TestedModel(texts, self._corpus_lines(f"{index:02d}", question))
        return models

    def _corpus_lines(self, prefix: str, question: Question) -> dict[str, Records]:
        return {
            call.title: self._part(question, f"{prefix}-{call.entry.name}", partial(question.corpus_lines, call))
            for call in question.of_corpus
        }

    def _part(self, question: Question, name: str, work: Callable[[], Records]) -> Records:
        if self.path is None:
            return work()
        file = self.path / PARTS / f"{name}.json"
        owner = {"model": question.model.hash, "part": name}
        if not file.exists():
            write_text(file, json.dumps(sealed({"records": work()}, owner), ensure_ascii=False))
        content = read_json(file)
        try:
            assert is_sealed(content)
            records = unsealed(content, owner, file)["records"]
        except (AssertionError, TypeError, LookupError, AttributeError):
            raise BadFile(f"{file} is damaged; remove it to have it made again.") from None
        return records  # type: ignore[return-value]  # its seal says that we wrote it

    def _question(self) -> dict[str, object]:
        examples = next(iter(self.questions.values())).examples
        texts = f"{len(examples)} with digest {json_digest([example_record(example) for example in examples])}"
        models = {name: question.facts() for name, question in self.questions.items()}
        return {"attention of": models, "texts": texts, "texts in a part": PART}
