"""Examples as a data set of the ERASER benchmark: documents, and annotations that point into them.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models".
"""

import json
from collections.abc import Iterable
from pathlib import Path

from pellucid.core.foundation.checks import every
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.files import possible_path, write_text
from pellucid.core.text.eraser_tokens import document_names, eraser_tokens
from pellucid.core.text.example import Example


def write_eraser_examples(examples: Iterable[Example], folder: str | Path, split: str = "test") -> None:
    """Write a part in ERASER's form: each text as a document in docs, and the annotations in {split}.jsonl.

    Rationales are widened to whole tokens; meta is not written. The file of the dev part is val.jsonl, as in ERASER.

    examples: each with an id and a label.
    folder: where to write; it is made where it is missing.
    split: "train", "dev" or "test", the name of the part.

    Raises `BadInput` for an example without an id or a label, or for two with the same id.

    >>> pellucid.write_eraser_examples(pellucid.examples("pocket"), "pocket-as-eraser")
    >>> len(pellucid.examples("pocket-as-eraser", format="eraser")) == len(pellucid.examples("pocket"))
    True
    """
    folder = possible_path(folder)
    examples = every("examples", examples, Example, "give what pellucid.examples or plant returned")
    documents: dict[str, str] = {}
    annotations = [_annotation(example, documents) for example in examples]
    for name, text in documents.items():
        write_text(folder / "docs" / name, text)
    file = folder / f"{'val' if split == 'dev' else split}.jsonl"
    write_text(file, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in annotations))


def _annotation(example: Example, documents: dict[str, str]) -> dict[str, object]:
    """The annotation of one example; its documents are added to `documents`."""
    if not example.id or example.label is None:
        raise BadInput(
            f"ERASER needs an id and a label; example {example.id!r} has the label {example.label!r}."
        )
    names = document_names(example.id, len(example.segments))
    for name, text in zip(names, example.segments, strict=True):
        if name in documents:
            raise BadInput(f"Two examples make the document {name!r}; give each example an id of its own.")
        documents[name] = text
    return {
        "annotation_id": example.id,
        "classification": example.label,
        "docids": names,
        "evidences": [[_evidence(example, names, number)] for number in range(len(example.rationales))],
        "query": "",
        "query_type": None,
    }


def _evidence(example: Example, names: list[str], number: int) -> dict[str, object]:
    mark = example.rationales[number]
    text = example.segments[mark.segment]
    tokens = eraser_tokens(text)
    inside = [n for n, (start, end) in enumerate(tokens) if start < mark.end and end > mark.start]
    if not inside:
        raise BadInput(
            f"Example {example.id!r} has a rationale of blanks alone, from {mark.start} to {mark.end}."
        )
    first, last = inside[0], inside[-1]
    return {
        "docid": names[mark.segment],
        "start_token": first,
        "end_token": last + 1,
        "start_sentence": -1,  # ERASER's value for "unknown"
        "end_sentence": -1,
        "text": " ".join(text[start:end] for start, end in tokens[first : last + 1]),
    }
