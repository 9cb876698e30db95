"""Explanations and tables written by hand, for tests that draw them."""

import numpy as np

from pellucid.results.explanation import Explained, Explanation, Prediction
from pellucid.results.table import Cell, Curve, Interval, Table
from pellucid.text.example import Example, Rationale
from pellucid.text.units import all_spans
from tests.shared.explanations import word_units

HOSTILE = '</style><script>alert(1)</script><img src=x onerror="alert(2)">\' & "q" &lt; '
HOSTILE += "\u202eevil\u202c \x1b[31m \x00"


def sample_explanation(text="A fine, fine film.", method="integrated_gradients", scores=None, **changes):
    """An explanation of a text or a pair, with random scores.

    changes: other values for its parts; also label, rationales, id and spans=True for scores of spans.
    """
    segments = (text,) if isinstance(text, str) else text
    label, marks = changes.pop("label", None), changes.pop("rationales", ())
    example = Example(segments, label, tuple(Rationale(*mark) for mark in marks), changes.pop("id", "t1"))
    units = changes.pop("units", None) or word_units(segments)
    if changes.pop("spans", False):
        units = all_spans(units)
    rng = np.random.default_rng(changes.get("seed", 0))
    scores = rng.normal(size=len(units)) if scores is None else scores
    labels = changes.pop("labels", ("negative", "positive"))
    predicted = changes.pop("predicted", labels[-1])
    probabilities = changes.pop("probabilities", (0.2, 0.8))
    parts = {
        "example": example,
        "units": units,
        "scores": scores,
        "target": Explained(predicted, None, "logit", 1.5),
        "prediction": Prediction(predicted, labels, (-1.0, 1.5), probabilities),
        "method": method,
        "settings": {"n_steps": 32},
        "seed": 0,
        "model": "pocket-model",
        "model_hash": "0123456789abcdef" * 4,
    }
    return Explanation(**{**parts, **changes})


METHODS = ("integrated_gradients", "gradient_x_input", "attention", "chance")
METRICS = (
    ("comprehensiveness", "higher"),
    ("sufficiency", "lower"),
    ("hiding", "lower"),
    ("revealing", "higher"),
)


def sample_table(methods=METHODS, metrics=METRICS, curves=("hiding", "revealing"), seed=0, **changes):
    """A table with an interval a cell, chance with its spread, and curves over 21 points."""
    rng = np.random.default_rng(seed)
    cells = tuple(_cell(rng, method, rank, *metric) for rank, method in enumerate(methods) for metric in metrics)
    parts = {
        "cells": cells,
        "curves": tuple(_curve(rng, m, rank, metric) for metric in curves for rank, m in enumerate(methods)),
        "about": {"model": "pocket-model", "examples": 200, "seed": 0, "resamples": 1000},
        "caveats": ("Edited texts are unlike the texts the model was trained on.",),
    }
    return Table(**{**parts, **changes})


def _cell(rng, method, rank, metric, better):
    goal = 0.62 - 0.045 * rank if better == "higher" else 0.15 + 0.045 * rank
    mean = float(goal + rng.normal() * 0.03)
    settings = {
        "reference": "gold",
        "operator": "absent",
        "unit": "word",
        "fractions": [0.01, 0.05, 0.1, 0.2, 0.5],
    }
    value = Interval(mean, mean - 0.03, mean + 0.03)
    if method == "chance":
        return Cell(method, metric, value, 200, better, None, 0.012, settings)
    over = mean - (0.3 if better == "higher" else 0.4)
    p = 0.001 if abs(over) > 0.04 else 1.0
    return Cell(method, metric, value, 200, better, Interval(over, over - 0.04, over + 0.04), None, settings, p)


def _curve(rng, method, rank, metric):
    grid = np.linspace(0, 1, 21)
    speed = 7 - 0.75 * rank if method != "chance" else 1.2
    fall = (
        0.5 + 0.45 * np.exp(-speed * grid) * (1 - grid**4)
        if metric == "hiding"
        else 0.95 - 0.45 * np.exp(-speed * grid)
    )
    mean = fall + np.r_[0, rng.normal(size=20) * 0.004]
    wide = 0.005 + 0.03 * np.sin(np.pi * grid)
    return Curve(method, metric, *(tuple(map(float, part)) for part in (grid, mean, mean - wide, mean + wide)))
