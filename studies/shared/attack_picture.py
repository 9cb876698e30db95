"""A picture of right answers against the queries of attacks."""

from collections.abc import Mapping, Sequence

from studies.shared.curve_plot import NamedCurve, curve_plot
from studies.shared.units import Numbers


def attack_picture(title: str, curves: Mapping[str, Sequence[tuple[float, Numbers]]], drawn: Sequence[str]) -> str:
    """A curve a name. curves: name -> (log10 of the queries, interval of the right answers in percent). drawn: names in
    their order.
    """
    named = [
        NamedCurve(
            name.replace("_", " "),
            tuple((at, of["mean"]) for at, of in curves[name]),
            tuple((of["low"], of["high"]) for _, of in curves[name]),
        )
        for name in drawn
        if name in curves
    ]
    axes = "queries a text", "right answers, %"
    return curve_plot(title, named, axes, "bands: 95 % over seeds and texts", _queries)


def _queries(power: float) -> str:
    """The queries at a place of the axis; nothing between two powers of ten."""
    return f"{10 ** int(power):,}" if power == int(power) else ""
