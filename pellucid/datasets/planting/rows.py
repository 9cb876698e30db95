"""The edited versions of a planted example; it carries them in `meta`, as plain values."""

from collections.abc import Mapping, Sequence
from typing import Any

from pellucid.core.foundation.checks import one_of
from pellucid.core.foundation.errors import BadInput
from pellucid.core.text.example import Example, Rationale

EDITS = ("counterfactual", "distractor_edit")  # another reason, same decoy; another decoy, same reason


def as_row(example: Example) -> dict[str, object]:
    """A text or a pair, its label and its reason, in the fields of JSON lines."""
    ends = _ends(len(example.segments))
    texts = {f"text{end}": text for end, text in zip(ends, example.segments, strict=True)}
    evidence = {
        f"evidence{end}": [[mark.start, mark.end] for mark in example.rationales if mark.segment == number]
        for number, end in enumerate(ends)
    }
    return {**texts, "label": example.label, **evidence}


def edited(examples: Sequence[Example], edit: str) -> list[Example]:
    """The edited version of each planted example; edit: "counterfactual" or "distractor_edit".

    Raises `BadInput` for an example that carries none.
    """
    one_of("edit", edit, EDITS)
    missing = [example.id for example in examples if edit not in example.meta]
    if missing:
        raise BadInput(
            f"{len(missing)} examples (first: {missing[0]!r}) carry no {edit}; give texts that pellucid.plant made."
        )
    return [
        _from_row(example.meta[edit], len(example.segments), f"{example.id}-{edit}") for example in examples
    ]


def _from_row(row: Mapping[str, Any], segments: int, id: str) -> Example:
    """The example that `as_row` wrote; the row's fields depend on the number of its texts."""
    ends = _ends(segments)
    marks = [Rationale(number, *mark) for number, end in enumerate(ends) for mark in row[f"evidence{end}"]]
    return Example(tuple(row[f"text{end}"] for end in ends), row["label"], tuple(marks), id)


def _ends(segments: int) -> tuple[str, ...]:
    """How the fields' names end: "text" and "evidence" for one text, "text_a", "text_b" and so on for a pair."""
    return ("",) if segments == 1 else ("_a", "_b")
