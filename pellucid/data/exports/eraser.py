"""ERASER's files: examples with their rationales, and predictions with spans and scores."""

import json
from collections.abc import Iterable, Sequence
from math import ceil
from pathlib import Path

import numpy as np

from pellucid.base.checks import between, every
from pellucid.base.errors import BadInput
from pellucid.base.files import possible_path, write_text
from pellucid.results.explanation import Explanation
from pellucid.text.example import Example
from pellucid.text.lexicon import document_names, eraser_tokens, token_texts
from pellucid.text.ranges import drawn_order
from pellucid.text.units import Spans


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
        raise BadInput(f"ERASER needs an id and a label; example {example.id!r} has the label {example.label!r}.")
    names = document_names(example.id, len(example.segments))
    for name, text in zip(names, example.segments, strict=True):
        if name in documents:
            raise BadInput(f"Two examples make the document {name!r}; give each example an id of its own.")
        documents[name] = text
    return {
        "annotation_id": example.id,
        "classification": example.label,
        "docids": names,
        "evidences": [[_evidence(example, names, index)] for index in range(len(example.rationales))],
        "query": "",
        "query_type": None,
    }


def _evidence(example: Example, names: list[str], index: int) -> dict[str, object]:
    mark = example.rationales[index]
    text = example.segments[mark.segment]
    tokens = eraser_tokens(text)
    inside = [n for n, (start, end) in enumerate(tokens) if start < mark.end and end > mark.start]
    if not inside:
        raise BadInput(f"Example {example.id!r} has a rationale of blanks alone, from {mark.start} to {mark.end}.")
    first, last = inside[0], inside[-1]
    return {
        "docid": names[mark.segment],
        "start_token": first,
        "end_token": last + 1,
        "start_sentence": -1,  # ERASER's value for "unknown"
        "end_sentence": -1,
        "text": " ".join(text[start:end] for start, end in tokens[first : last + 1]),
    }


# Explanations as predictions of the ERASER benchmark: a score a token, and the best tokens as the rationale.
#
# DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.


def write_eraser(explanations: Sequence[Explanation], path: str | Path, *, fraction: float = 0.2) -> None:
    """Write explanations as ERASER's predictions, one JSON object a line.

    explanations: from `explain` or `read`; each example needs an id.
    path: the file to write; a file that exists is replaced.
    fraction: the share of a document's tokens, those with the highest scores above 0, that are its hard rationale; 0 to
        1. A draw from the document's tokens, always the same, chooses among equal scores.

    Raises `BadInput` for an example without an id, `BadSetting` for another fraction or for scores with several rows.

    >>> import json
    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> pellucid.write_eraser(pellucid.explain(model, "A good film."), "predictions.jsonl", fraction=0.3)
    >>> rationales = json.loads(open("predictions.jsonl").readline())["rationales"]
    >>> rationales[0]["hard_rationale_predictions"]
    [{'start_token': 1, 'end_token': 2}]
    """
    between("fraction", fraction, 0, 1)
    explanations = every("explanations", explanations, Explanation, "give what explain or read returned")
    rows = [_prediction(explanation, fraction) for explanation in explanations]
    write_text(path, "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))


def _prediction(explanation: Explanation, fraction: float) -> dict[str, object]:
    example, prediction = explanation.example, explanation.prediction
    if not example.id:
        raise BadInput("ERASER needs an id for each example; one has none.")
    names = _documents(example)
    return {
        "annotation_id": example.id,
        "classification": prediction.label,
        "classification_scores": dict(zip(prediction.labels, prediction.probabilities, strict=False)),
        "rationales": [
            _rationale(name, token_scores(explanation, segment), token_texts(text), fraction)
            for segment, (name, text) in enumerate(zip(names, example.segments, strict=False))
        ],
    }


def _documents(example: Example) -> list[str]:
    """The names of its documents: those in its meta, where they are valid; else names made from its id."""
    names, count = example.meta.get("docids"), len(example.segments)
    if isinstance(names, list) and 0 < len(names) <= count and all(isinstance(name, str) for name in names):
        return names
    return document_names(example.id, count)


def _rationale(name: str, scores: np.ndarray, tokens: Sequence[str], fraction: float) -> dict[str, object]:
    best = drawn_order(scores, tokens)[: ceil(fraction * len(scores))]
    selected = np.zeros(len(scores) + 2, dtype=int)
    selected[1 + best[scores[best] > 0]] = 1
    edges = np.diff(selected)
    hard = zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True)
    return {
        "docid": name,
        "hard_rationale_predictions": [{"start_token": first, "end_token": end} for first, end in hard],
        "soft_rationale_predictions": scores.tolist(),
    }


def token_scores(explanation: Explanation, segment: int) -> np.ndarray:
    """[token]: each unit's score, shared equally among the ERASER tokens that it overlaps, so that sums are kept."""
    tokens = np.array(eraser_tokens(explanation.example.segments[segment])).reshape(-1, 2)
    parts = explanation.words() if isinstance(explanation.units, Spans) else explanation
    scores = np.zeros(len(tokens))
    for unit in map(parts.scored, parts.ranking()):
        if unit.segment == segment:
            inside = (tokens[:, 0] < unit.end) & (tokens[:, 1] > unit.start)
            scores[inside] += unit.score / max(inside.sum(), 1)
    return scores
