"""Units and explanations made by hand, for tests that need no model."""

import numpy as np

from pellucid.results.explanation import Explained, Explanation, Prediction
from pellucid.text.example import Example
from pellucid.text.units import Units, text_units


def word_units(segments, kind="piece"):
    """[CLS] words [SEP] (words [SEP]): one unit a word, special tokens marked."""
    labels, segment, start, end = ["[CLS]"], [-1], [0], [0]
    for number, text in enumerate(segments):
        for first, last in text_units(text, "word"):
            labels.append(text[first:last])
            segment.append(number)
            start.append(first)
            end.append(last)
        labels.append("[SEP]")
        segment.append(-1)
        start.append(0)
        end.append(0)
    return Units(kind, tuple(labels), tuple(segment), tuple(start), tuple(end))


def explanation(text="A fine, fine film.", scores=None, **parts):
    """An explanation of a text or a pair, with random scores unless given."""
    segments = (text,) if isinstance(text, str) else text
    units = parts.pop("units", None) or word_units(segments)
    sizes = [len(labels) for _, labels in parts.get("rows", ())]
    scores = np.random.default_rng(0).normal(size=(*sizes, len(units))) if scores is None else scores
    fields = {
        "example": Example(segments, id="t1"),
        "units": units,
        "scores": scores,
        "target": Explained("positive", None, "logit", 1.5),
        "prediction": Prediction("positive", ("negative", "positive"), (-1.0, 1.5), (0.25, 0.75)),
        "method": "occlusion",
        "settings": {"window": 1, "operator": "absent"},
        "seed": 0,
        "model": "tiny",
        "model_hash": "0123456789abcdef" * 2,
    }
    return Explanation(**{**fields, **parts})
