"""Explanations whose rows are layers, made by hand, so that every number of an analysis is known."""

import numpy as np

from pellucid.layers.record import LayerAnalysis, ModelLayers
from pellucid.results.explanation import Explained, Explanation, Prediction
from pellucid.text.example import Example
from pellucid.text.units import SPECIAL, Units, text_units

TEXTS = (
    "A gripping, lovely film. I want it again.",
    "The film is dull.",
    "A film that nobody wants to see.",
    "Lovely film!",
)


def pieces(text, size):
    """Units of at most `size` characters of each word, with a special token at both ends."""
    spans = [
        (start, min(start + size, end)) for first, end in text_units(text, "word") for start in range(first, end, size)
    ]
    labels = ("[CLS]", *(text[start:end] for start, end in spans), "[SEP]")
    starts, ends = zip(*((0, 0), *spans, (0, 0)), strict=True)
    return Units("piece", labels, (SPECIAL, *(0 for _ in spans), SPECIAL), starts, ends)


def explanation(text, n_layers=3, *, seed=0, size=4, drop="", spread=0.05, kind="layer", method="measured"):
    """Scores from 0 to 3 a piece, less in higher layers; a word that is dropped has 0 in the last layer."""
    example = Example((text,), id=f"text of {len(text)}")
    units = pieces(text, size)
    draws = np.random.default_rng([seed, len(text)]).uniform(0.5, 1.0, (n_layers, len(units)))
    scores = draws * np.linspace(3, 1, n_layers)[:, None]
    dropped = [(start, end) for start, end in text_units(text, "word") if text[start:end].lower() == drop]
    for column in units.content:
        if any(start <= units.start[column] < end for start, end in dropped):
            scores[-1, column] = 0.0
    return Explanation(
        example=example,
        units=units,
        scores=scores,
        rows=((kind, tuple(map(str, range(n_layers)))),),
        target=Explained("layer all", None, "hidden state (pooled)", 1.0),
        prediction=Prediction("positive", ("negative", "positive"), (0.0, 1.0), (0.3, 0.7)),
        method=method,
        settings={},
        seed=seed,
        model="tiny",
        model_hash="0" * 32,
        diagnostics={"seed_spread": spread},
    )


def trained(name, n_layers=3, seeds=(0,), texts=TEXTS, **settings):
    """A model with an explanation of each text by each training."""
    each = tuple(tuple(explanation(text, n_layers, seed=seed, **settings) for text in texts) for seed in seeds)
    return ModelLayers(name, each)


def sample_analysis(measure="nats", **settings):
    """Two models of different depths and tokenizers; the second dropped the word film."""
    models = trained("first", 3, **settings), trained("second", 5, size=3, drop="film", **settings)
    return LayerAnalysis(models, measure, ("A caveat of the explanations.",))
