"""Explanations as predictions of the ERASER benchmark: a score a token, and the best tokens as the rationale.

DeYoung et al. (2020), "ERASER: A Benchmark to Evaluate Rationalized NLP Models", section 4.
"""

import json
from collections.abc import Sequence
from math import ceil
from pathlib import Path

import numpy as np

from pellucid.core.foundation.checks import between, every
from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.files import write_text
from pellucid.core.results.explanation import Explanation
from pellucid.core.text.eraser_tokens import document_names, eraser_tokens, token_texts
from pellucid.core.text.example import Example
from pellucid.core.text.tied_units import drawn_order
from pellucid.core.text.units import Spans


def write_eraser(explanations: Sequence[Explanation], path: str | Path, *, fraction: float = 0.2) -> None:
    """Write explanations as ERASER's predictions, one JSON object a line.

    explanations: from `explain` or `read`; each example needs an id.
    path: the file to write; a file that exists is replaced.
    fraction: the share of a document's tokens, those with the highest scores above 0, that are its hard rationale; 0 to 1. A draw from
        the document's tokens, always the same, chooses among equal scores.

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
