"""A text's map as people see it: rows that are steps carry the piece that was read last."""

from dataclasses import replace

from pellucid.results.layers.layer_analysis import LayerAnalysis
from pellucid.results.layers.word_map import WordMap
from pellucid.text.ranges import step_labels
from pellucid.text.units import Units


def drawn_map(analysis: LayerAnalysis, text: int, model: str) -> WordMap:
    """The scores [row word] of one text, its rows named for drawing."""
    one = analysis.map(text, model)
    units = analysis.model(model).seeds[0][text].units
    if analysis.row_kind != "step" or not isinstance(units, Units):
        return one
    labels = step_labels(units)
    return replace(one, rows=labels) if len(labels) == len(one.rows) else one
