"""A folder that keeps attempts part by part; interrupted work goes on after its last part.

    question.json       what is asked of which texts; a folder with another question is refused
    parts/0003.json     the attempts on the fourth part's texts
    attempts.parquet    all attempts, once there are all
    pellucid-manifest.json   digests of these files, once there are all; see `core/folders/output_folder.py`

Attacks on the same texts lie beside each other, each in a folder with its name. A part is there whole or not at all.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from pellucid.api.attacks.attack_question import AttackQuestion
from pellucid.attacks.shared.questions import AT_ONCE
from pellucid.core.corpus.attempt_storage import attempt_from, attempt_record, save_attempts
from pellucid.core.corpus.attempts import Attempts
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import write_text
from pellucid.core.foundation.json_text import read_json
from pellucid.core.foundation.progress import Progress
from pellucid.core.foundation.seals import is_sealed, json_digest, sealed, unsealed
from pellucid.core.results.attempt import Attempt
from pellucid.core.results.explanation_record import example_record
from pellucid.core.text.example import Example
from pellucid.evaluation.shared.question_folder import PARTS, prepare_folder, question_folder

STAGE, ATTEMPTS = "attacking", "attempts.parquet"


@dataclass(frozen=True)
class AttackFolder:
    """The texts, what is asked of them, and the folder that keeps the answers; None: they are kept in memory."""

    path: Path | None
    question: AttackQuestion
    examples: Sequence[Example]

    def attempts(self, progress: Progress) -> Attempts:
        """One attempt a text; parts that are in the folder are read, the others computed and written."""
        if self.path is None:
            return Attempts(self._attempts(progress))
        question, numbers = self._question(), range(-(-len(self.examples) // AT_ONCE))
        parts = [self._file(number).relative_to(self.path).as_posix() for number in numbers]
        folder = question_folder(self.path, "attack", question, [*parts, ATTEMPTS])
        state = folder.begin()
        prepare_folder(self.path, question, "attack")
        attempts, remade = self._attempts(progress), []
        if not state.is_whole:
            remade = folder.rewritten([ATTEMPTS], partial(save_attempts, attempts, self.path / ATTEMPTS))
        folder.end(state, remade)
        return Attempts(attempts)

    def _attempts(self, progress: Progress) -> list[Attempt]:
        attempts: list[Attempt] = []
        for first in range(0, len(self.examples), AT_ONCE):
            attempts += self._part(first, progress)
            progress(STAGE, len(attempts), len(self.examples))
        return attempts

    def _part(self, first: int, progress: Progress) -> list[Attempt]:
        examples = self.examples[first : first + AT_ONCE]

        def work() -> list[Attempt]:
            total = len(self.examples)
            return self.question.attempts(examples, lambda done: progress(STAGE, first + done, total))

        if self.path is None:
            return work()
        number = first // AT_ONCE
        file = self._file(number)
        of = {"model": self.question.model.hash, "part": number}
        if not file.exists():
            records = [attempt_record(one) for one in work()]
            write_text(file, json.dumps(sealed({"attempts": records}, of), ensure_ascii=False))
        return _read(file, of)

    def _file(self, number: int) -> Path:
        assert self.path is not None
        return self.path / PARTS / f"{number:04d}.json"

    def _question(self) -> dict[str, object]:
        digest = json_digest([example_record(one) for one in self.examples])
        texts = f"{len(self.examples)} with digest {digest}"
        return {"attack": self.question.facts(), "texts": texts, "texts in a part": AT_ONCE}


def _read(file: Path, of: dict[str, object]) -> list[Attempt]:
    content = read_json(file)
    try:
        assert is_sealed(content)
        return [attempt_from(record) for record in unsealed(content, of, file)["attempts"]]
    except (AssertionError, TypeError, LookupError, AttributeError, ValueError):
        raise BadFile(f"{file} is damaged; remove it to have it made again.") from None
