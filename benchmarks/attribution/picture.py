"""One picture of all ratios: for every method, what each library needs as a multiple of the floor.

Colours of Okabe and Ito, which colour-blind readers tell apart; shapes differ too, for print. The background is white
and opaque, so the picture stands in a dark page as it is; it is narrow, so that a phone shows it whole.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt

from benchmarks.attribution.cases import BY_ROUTE
from benchmarks.attribution.table import timed
from benchmarks.attribution.workload import TITLES as KINDS

PLACE = "minilm, 1 thread"
WIDTHS = {"short": "8–60 words", "long": "about 400 words"}
LOOK = {  # colour, shape, filled
    "pellucid": ("#0072B2", "o", True),
    BY_ROUTE: ("#56B4E9", "o", True),
    "captum": ("#D55E00", "s", True),
    "captum tuned": ("#D55E00", "s", False),
    "lime": ("#009E73", "^", True),
    "lime tuned": ("#009E73", "^", False),
    "shap": ("#CC79A7", "D", True),
    "shap tuned": ("#CC79A7", "D", False),
}
EDGES = {BY_ROUTE: "#1A1A1A"}  # dark, because the colour is light; others have their colour
SIZES = {"pellucid": 11}  # so that it shows behind the one by route; others have 8
LAYERS = {"pellucid": 4, BY_ROUTE: 5}  # others have 3
LEAST, MOST = 0.15, 4.0  # ratios that are shown
TICKS = (0.2, 0.3, 0.5, 0.7, 1, 1.5, 2, 3)
ASIDE = {
    "captum": 0.16,
    "captum tuned": 0.16,
    "lime": -0.16,
    "lime tuned": -0.16,
}  # so that none hides another
WORDS = {"together": "all gradients together", "partition": "partition (shap only)"}
TITLES = {kind: f"{title} ({WIDTHS[kind.split()[-1]]})" for kind, title in KINDS.items()}


def draw(records: Mapping[str, Any], folder: Path, name: str) -> list[Path]:
    """Write it as PNG and SVG."""
    panels = {texts: [row for row in timed(records, texts, PLACE) if "ratio" in row[2]] for texts in TITLES}
    panels = {texts: rows for texts, rows in panels.items() if rows}
    heights = [len({method for method, _, _ in rows}) + 1.4 for rows in panels.values()]
    with plt.rc_context({"font.size": 12, "svg.fonttype": "path", "svg.hashsalt": name, "font.family": "DejaVu Sans"}):
        figure, axes = plt.subplots(
            len(panels),
            1,
            figsize=(6.4, 0.46 * sum(heights) + 1.6),
            height_ratios=heights,
            squeeze=False,
            sharex=True,
            facecolor="white",
        )
        for axis, (texts, rows) in zip(axes[:, 0], panels.items(), strict=True):
            _panel(axis, rows, TITLES[texts])
        axes[-1, 0].set_xlabel("time ÷ floor: the model's bare speed for\nthe same passes (log scale; left is faster)")
        _legend(figure, [by for rows in panels.values() for _, by, _ in rows])
        figure.tight_layout(rect=(0, 0, 1, 1 - 0.85 / figure.get_figheight()))
        paths = [folder / f"{name}.png", folder / f"{name}.svg"]
        for path in paths:
            figure.savefig(path, dpi=160, facecolor="white", metadata={"Date": None} if path.suffix == ".svg" else None)
        plt.close(figure)
    return paths


def _panel(axis: Any, rows: list, title: str) -> None:
    methods = list(dict.fromkeys(method for method, _, _ in rows))
    axis.set_facecolor("white")
    axis.set_xscale("log")
    axis.set_xlim(LEAST, MOST)
    axis.set_xticks(TICKS, [f"{tick:g}" if tick != 1 else "1\n(floor)" for tick in TICKS])
    axis.minorticks_off()
    axis.axvline(1, color="#333333", linewidth=1.5, zorder=1)
    axis.grid(axis="y", color="#E4E4E4", zorder=0)
    for method, by, record in rows:
        axis.plot(
            min(max(record["ratio"], 1.03 * LEAST), 0.97 * MOST),
            methods.index(method) + ASIDE.get(by, 0.0),
            **_marker(by),
            zorder=LAYERS.get(by, 3),
            clip_on=False,
        )
    axis.set_yticks(range(len(methods)), [WORDS.get(method, method.replace("_", " ")) for method in methods])
    axis.set_ylim(len(methods) - 0.4, -0.6)
    axis.set_title(title, loc="left", fontsize=12, fontweight="bold")
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)


def _marker(by: str) -> dict[str, Any]:
    """How a library is drawn."""
    colour, shape, filled = LOOK[by]
    return {
        "linestyle": "",
        "marker": shape,
        "color": EDGES.get(by, colour),
        "markerfacecolor": colour if filled else "white",
        "markeredgewidth": 1.5 if by in EDGES else 2,
        "markersize": SIZES.get(by, 8),
    }


def _legend(figure: Any, shown: list[str]) -> None:
    handles = [plt.Line2D([], [], **_marker(by), label=by) for by in LOOK if by in shown]
    figure.legend(handles=handles, loc="upper center", ncols=3, frameon=False, columnspacing=1.2, handletextpad=0.2)
