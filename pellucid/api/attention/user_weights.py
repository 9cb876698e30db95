"""Weights that a user gives, from a dictionary, a list or a file."""

from collections.abc import Mapping, Sequence
from numbers import Real
from pathlib import Path
from typing import Any

from pellucid.core.foundation.checks import listed_members
from pellucid.core.foundation.errors import BadFile, BadInput
from pellucid.core.foundation.files import read_text
from pellucid.core.foundation.json_text import parsed
from pellucid.core.foundation.wording import quoted
from pellucid.core.text.example import Example
from pellucid.evaluation.attention_analysis.user_weights import UserWeights

WAY = "give a text's id with a list of numbers, one for each word: {'id': [0.5, 0.5]}"


def user_weights_from(weights: Any, examples: Sequence[Example]) -> UserWeights:
    """A text's id -> its weights; a list is in the order of the texts. Raises `BadInput` for anything else."""
    if weights is None:
        return {}
    if not isinstance(weights, Mapping):
        rows = None if isinstance(weights, str | bytes | Path) else listed_members(weights)
        if rows is None or len(rows) != len(examples):
            count = "" if rows is None else f", {len(rows)} of them for {len(examples)} texts"
            raise BadInput(f"weights came as {type(weights).__name__}{count}; {WAY}.")
        weights = {example.id: row for example, row in zip(examples, rows, strict=True)}
    return {str(name): _numbers(name, row) for name, row in weights.items()}


def _numbers(name: object, row: Any) -> list[float]:
    members = None if isinstance(row, str | bytes | Mapping) else listed_members(row)
    if not members or any(isinstance(one, bool) or not isinstance(one, Real) for one in members):
        raise BadInput(f"The weights of text {quoted(name)} are no list of numbers; {WAY}.")
    return [float(one) for one in members]  # type: ignore[arg-type]  # all are numbers


def user_weights_in_file(path: Path) -> dict[str, Any]:
    """Weights of a JSON file, {"id": [...]}, or of JSON lines, {"id": ..., "weights": [...]}; raises `BadFile` for other files."""
    text = read_text(path)
    try:
        return dict(parsed(text)) if path.suffix == ".json" else _of_lines(text)
    except (ValueError, TypeError, LookupError):
        raise BadFile(
            f'{path} does not hold weights; write a line {{"id": "review-1", "weights": [0.5, 0.5]}} for each text, or one object '
            "of ids with their weights in a .json file."
        ) from None


def _of_lines(text: str) -> dict[str, Any]:
    records = [parsed(line) for line in text.split("\n") if line.strip()]
    return {str(record["id"]): record["weights"] for record in records}
