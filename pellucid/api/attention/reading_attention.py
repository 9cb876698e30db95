"""An attention analysis from what the command `attention` wrote: the file of `--save`, or the folder of `--out`."""

from pathlib import Path

from pellucid.core.foundation.json_text import read_json
from pellucid.core.results.attention_analysis import FORM, AttentionAnalysis
from pellucid.evaluation.shared.question_folder import QUESTION


def attention_at(path: Path) -> AttentionAnalysis | None:
    """The analysis that this file or folder holds; None where it holds something else, such as explanations.

    Raises `BadFile` for a folder whose work is not finished, and for a file that is damaged.
    """
    if path.is_dir():
        question = path / QUESTION
        is_attention = question.is_file() and "attention of" in (read_json(question) or ())
        return AttentionAnalysis.read(path) if is_attention else None
    if path.suffix != ".json" or not path.is_file():
        return None
    whole = read_json(path)
    return AttentionAnalysis.read(path) if isinstance(whole, dict) and whole.get("form") == FORM else None
