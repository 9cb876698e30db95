"""Explanations and tables as no method would make them, but as a program or a file may: every name and number strange."""

from functools import cache

import numpy as np
from hypothesis import strategies as st

from pellucid.core.results.explanation import Explained, Explanation, Prediction
from pellucid.core.results.table import Cell, Curve, Interval, Table
from pellucid.core.text.units import Units, all_spans
from tests.explanations import word_units
from tests.hostile.strategies import examples, metas, names, numbers, plain_values

SCORES = (0.0, -0.0, 1e-45, 3e38, -3e38, 1.5, -0.2, 1e-9)
MOST_PARTS = 40  # parts whose spans are all scored


@cache
def any_name() -> st.SearchStrategy[str]:
    """Names as they come out of folders and configurations: now and then with bytes that are no text."""
    return st.one_of(names(), names(), names(), names(surrogates=True))


@st.composite
def explanations(draw: st.DrawFn) -> Explanation:
    """An explanation whose parts fit each other, and are otherwise anything."""
    example = draw(examples())
    units = word_units(example.segments)
    tokens = [
        draw(names()) if special else label
        for label, special in zip(units.labels, units.special, strict=True)
    ]
    held = Units("piece", tuple(tokens), units.segment, units.start, units.end)
    if len(held) < MOST_PARTS and draw(st.booleans()):
        held = all_spans(held)
    rows = draw(st.sampled_from([(), (), ((draw(names()), (draw(names()), "second")),)]))
    shape = (*(len(labels) for _, labels in rows), len(held))
    classes = tuple(draw(st.lists(names(), min_size=1, max_size=5, unique=True)))
    said = draw(st.sampled_from(classes))
    return Explanation(
        example=example,
        units=held,
        scores=np.resize(draw(st.lists(st.sampled_from(SCORES), min_size=1, max_size=5)), shape),
        target=Explained(said, draw(st.sampled_from([None, *classes])), draw(names()), draw(numbers())),
        prediction=Prediction(
            said,
            classes,
            tuple(draw(numbers()) for _ in classes),
            draw(st.sampled_from([(), (1 / len(classes),) * len(classes)])),
        ),
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
