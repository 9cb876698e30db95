"""Whether metrics can judge the units that methods score: words are sums of pieces, pieces are no shares of words."""

from collections.abc import Sequence

from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.errors import BadSetting
from pellucid.core.text.units import KINDS


def check_units(methods: Sequence[Call], metrics: Sequence[Call]) -> None:
    """Raise `BadSetting` where a metric reads finer units than a method scores, before anything is computed."""
    for metric in metrics:
        read = metric.settings.get("unit", "word")
        coarser = {method.title: scored for method in methods if (scored := _coarser(method, read))}
        if coarser:
            listed = ", ".join(f"{title} gives scores a {unit}" for title, unit in coarser.items())
            names = ", ".join(f"{title.partition('(')[0]} with unit={read!r}" for title in coarser)
            raise BadSetting(
                f"{metric.title} judges scores a {read}, but {listed}, which cannot be split. Name {names}, or give "
                f"{metric.entry.name} a coarser unit."
            )


def _coarser(method: Call, unit: str) -> str | None:
    """The unit that a method scores, if it is coarser; methods whose unit is the model's own are not known before."""
    scored = method.settings.get("unit")
    if scored == "span":  # spans of words
        scored = "word"
    if scored not in KINDS or unit not in KINDS:
        return None
    return scored if KINDS.index(scored) > KINDS.index(unit) else None
