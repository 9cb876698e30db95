"""Strategies for results that a program or a file may contain though no method makes them: strange names and
numbers.
"""

from functools import cache

import numpy as np
from hypothesis import strategies as st

from pellucid.results.explanation import Explained, Explanation, Prediction
from pellucid.results.table import Cell, Curve, Interval, Table
from pellucid.text.units import Spans, Units, all_spans
from tests.hostile.input_strategies import examples, metas, names, numbers, plain_values
from tests.shared.explanations import word_units

SCORES = (0.0, -0.0, 1e-45, 3e38, -3e38, 1.5, -0.2, 1e-9)
MOST_PARTS = 40  # parts whose spans are all scored


@cache
def any_name() -> st.SearchStrategy[str]:
    """Names as folders and configurations have them: sometimes with bytes that are no text."""
    return st.one_of(names(), names(), names(), names(surrogates=True))


@st.composite
def _units(draw: st.DrawFn, segments: tuple[str, ...]) -> Units | Spans:
    """The words of the texts, or all their spans; special tokens have strange names."""
    units = word_units(segments)
    tokens = [draw(names()) if special else label for label, special in zip(units.labels, units.special, strict=True)]
    pieces = Units("piece", tuple(tokens), units.segment, units.start, units.end)
    return all_spans(pieces) if len(pieces) < MOST_PARTS and draw(st.booleans()) else pieces


@st.composite
def _predictions(draw: st.DrawFn) -> Prediction:
    """Up to five classes with strange names, one of them predicted."""
    classes = tuple(draw(st.lists(names(), min_size=1, max_size=5, unique=True)))
    logits = tuple(draw(numbers()) for _ in classes)
    probabilities = draw(st.sampled_from([(), (1 / len(classes),) * len(classes)]))
    return Prediction(draw(st.sampled_from(classes)), classes, logits, probabilities)


@st.composite
def explanations(draw: st.DrawFn) -> Explanation:
    """An explanation whose parts fit each other; their contents are arbitrary."""
    example = draw(examples())
    units = draw(_units(example.segments))
    rows = draw(st.sampled_from([(), (), ((draw(names()), (draw(names()), "second")),)]))
    shape = (*(len(labels) for _, labels in rows), len(units))
    prediction = draw(_predictions())
    others = st.sampled_from([None, *prediction.labels])
    return Explanation(
        example=example,
        units=units,
        scores=np.resize(draw(st.lists(st.sampled_from(SCORES), min_size=1, max_size=5)), shape),
        target=Explained(prediction.label, draw(others), draw(names()), draw(numbers())),
        prediction=prediction,
        method=draw(st.one_of(names(), st.sampled_from(["gradient", "chance(n=1)", "(", "x(y)("]))),
        settings=draw(st.dictionaries(names(), plain_values(), max_size=2)),
        seed=draw(st.integers(0, 2**63 - 1)),
        model=draw(any_name()),
        model_hash=draw(names()),
        rows=rows,
        diagnostics=draw(st.dictionaries(names(), numbers(), max_size=2)),
        caveats=tuple(draw(st.lists(names(), max_size=2))),
    )


@st.composite
def tables(draw: st.DrawFn) -> Table:
    """A comparison with strange methods, metrics, settings and numbers."""
    methods = draw(st.lists(names(), min_size=1, max_size=3, unique=True))
    metrics = draw(st.lists(st.one_of(names(), st.just("hiding")), min_size=1, max_size=3, unique=True))
    cells = tuple(
        Cell(
            method,
            metric,
            draw(_intervals()),
            draw(st.integers(0, 2**63)),
            draw(st.sampled_from(["higher", "lower", "<b>"])),
            draw(st.one_of(st.none(), _intervals())),
            draw(st.one_of(st.none(), _finite())),
            draw(st.dictionaries(names(), plain_values(), max_size=1)),
        )
        for method in [*methods, "chance"]
        for metric in metrics
    )
    grid = (0.0, 0.5, 1.0)
    lines = [tuple(draw(_finite()) for _ in grid) for _ in range(3)]
    curves = tuple(Curve(method, metrics[0], grid, *lines) for method in methods)
    return Table(cells, curves, draw(metas()), tuple(draw(st.lists(any_name(), max_size=2))))


@cache
def _finite() -> st.SearchStrategy[float]:
    return st.one_of(st.floats(-10, 10), st.just(float("nan")), st.floats(allow_infinity=False, width=32))


@cache
def _intervals() -> st.SearchStrategy[Interval]:
    return st.builds(Interval, _finite(), _finite(), _finite())
