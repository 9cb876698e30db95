"""A folder that keeps an analysis part by part, beside the question that its parts answer."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from pellucid.base.errors import BadFile
from pellucid.base.files import check_folder, remove_unfinished, write_text
from pellucid.base.json_text import json_digest, read_json
from pellucid.base.output_folder import OutputFolder

QUESTION, PARTS = "question.json", "parts"


def question_folder(
    path: Path,
    command: str,
    question: Mapping[str, object],
    files: Sequence[str],
    folders: Sequence[str] = (),
) -> OutputFolder:
    """The folder as `OutputFolder` takes it; its question, which is known before the work, is among the files."""
    known = {QUESTION: _written(question)}
    return OutputFolder(path, command, json_digest(question), [QUESTION, *files], folders, known=known)


def prepare_folder(path: Path, question: Mapping[str, object], kind: str) -> None:
    """Make the folder ready for writing, with its question; raises `BadFile` where it holds anything else.

    kind: what the folder is of, such as "layer analysis".
    """
    if (path / QUESTION).exists():
        there = read_json(path / QUESTION)
        if there != question:
            names = _differing(there, question)
            raise BadFile(
                f"{path} holds another {kind} (it differs in {names}); give another folder, or remove this one."
            )
    elif path.exists() and (others := [one.name for one in path.glob("*") if one.suffix != ".part"]):
        raise BadFile(
            f"{path} holds no {kind} but other files ({', '.join(sorted(others)[:3])}); give an empty folder, or a new one."
        )
    for folder in (path, path / PARTS):
        remove_unfinished(folder)
    check_folder(path)
    if not (path / QUESTION).exists():
        write_text(path / QUESTION, _written(question))


def _written(question: Mapping[str, object]) -> str:
    return json.dumps(question, ensure_ascii=False, indent=1)


def _differing(there: object, here: Mapping[str, object]) -> str:
    if not isinstance(there, dict):
        return "everything"
    names = dict.fromkeys((*here, *there))
    return ", ".join(name for name in names if there.get(name) != here.get(name)) or "what else it says"
