"""The curve of the imitation adversary as a figure: how far weights lie from the model's own, and how far the answers then move.

Tutek & Šnajder (2020), "Staying True to Your Word", figure 1.
"""

from typing import TYPE_CHECKING

from pellucid.core.foundation.errors import BadInput
from pellucid.core.foundation.kinds import renderers
from pellucid.core.results.attention_analysis import AttentionAnalysis
from pellucid.reports.attention.adversary_curve import curve_points
from pellucid.reports.figures.canvas import (
    SMALL,
    ThemeName,
    empty_figure,
    footnotes,
    legend_above,
    palette,
    panels,
    title_of_class,
)
from pellucid.reports.figures.curves_figure import line_styles
from pellucid.reports.markup.escape import plain

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@renderers.add(draws="attention analysis")
def adversary_figure(
    analysis: AttentionAnalysis, *, theme: ThemeName = "light", width: float = 6.3
) -> "Figure":
    """A line a model, a point a λ. Raises `BadInput` where no adversary was trained."""
    curves = {model.name: points for model in analysis.models if (points := curve_points(model))}
    if not curves:
        raise BadInput(
            "No adversary was trained for this analysis; give attention_analysis train=, or `pellucid attention` --train."
        )
    colours = palette(theme)
    figure = empty_figure(width, 2.9, colours)
    [panel] = panels(figure, 1, 1, colours)
    for name, style in line_styles(list(curves), colours).items():
        _, divergences, distances = zip(*curves[name], strict=True)
        style["markevery"] = (0, 1)
        panel.plot(divergences, distances, label=plain(name), linewidth=1.3, markersize=4, **style)
        for at, x, y in curves[name]:
            panel.annotate(
                f"{at:g}",
                (x, y),
                (4, 3),
                textcoords="offset points",
                fontsize=SMALL - 1,
                color=style["color"],
            )
    title_of_class(panel, "distance of the answers")
    panel.set_xlabel("divergence of the weights, in nats", fontsize=SMALL)
    panel.set(xlim=(0, None), ylim=(0, None))
    legend_above(figure, panel, colours)
    notes = [
        "A point a λ: a new model, trained to answer alike with weights as far away as it can. It imitates mistakes too."
    ]
    footnotes(figure, notes, colours)
    return figure
