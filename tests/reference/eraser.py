"""ERASER's scores written out from their definitions, one document, one span, one token at a time.

DeYoung et al. (2020), section 4, as the benchmark's code reads them. A document is a text of an example: its key is
(example, text). Spans are [first token, end). gold and predicted: key -> set of spans; keys without spans are left out.
"""

from collections.abc import Mapping, Sequence

Key = tuple[str, int]
Span = tuple[int, int]
Spans = Mapping[Key, set[Span]]


def f1(precision: float, recall: float) -> float:
    if precision == 0 or recall == 0:
        return 0.0
    return 2 * precision * recall / (precision + recall)


def iou(a: Span, b: Span) -> float:
    first, second = set(range(*a)), set(range(*b))
    return len(first & second) / len(first | second)


def hits(predicted: set[Span], gold: set[Span], threshold: float) -> int:
    """Predicted spans whose best match is good enough; two of them may have the same match."""
    return sum(max((iou(span, other) for other in gold), default=0.0) >= threshold for span in predicted)


def iou_f1(gold: Spans, predicted: Spans, threshold: float) -> float:
    """Precision is averaged over documents with predictions, recall over documents with marks: not the same ones."""
    precisions = [hits(spans, gold.get(key, set()), threshold) / len(spans) for key, spans in predicted.items()]
    recalls = [hits(predicted.get(key, set()), spans, threshold) / len(spans) for key, spans in gold.items()]
    if not precisions or not recalls:
        return 0.0
    return f1(sum(precisions) / len(precisions), sum(recalls) / len(recalls))


def token_f1(gold: Spans, predicted: Spans) -> float:
    """The average of F1s over documents with marks or predictions; an empty side has precision or recall 0."""
    values = []
    for key in {*gold, *predicted}:
        marked = {token for span in gold.get(key, ()) for token in range(*span)}
        selected = {token for span in predicted.get(key, ()) for token in range(*span)}
        both = len(marked & selected)
        values.append(f1(both / len(selected) if selected else 0.0, both / len(marked) if marked else 0.0))
    return sum(values) / len(values)


def aopc(falls: Sequence[Sequence[float]]) -> float:
    """[threshold][example] falls of probability: averaged over examples, then over thresholds."""
    by_threshold = [sum(values) / len(values) for values in falls]
    return sum(by_threshold) / len(by_threshold)
