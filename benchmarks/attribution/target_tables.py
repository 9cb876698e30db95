"""The section of docs/performance.md that says what must be reached, by PyTorch's own passes and by the best route."""

from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.attribution.reasons import why
from benchmarks.attribution.table import listed
from benchmarks.attribution.targets import Line, lines, route_lines, routes_of
from pellucid.models.routing.route_choice import EARLIER

Records = Mapping[str, Mapping[str, Any]]
HEAD = ("", "measured", "must", "aim", "verdict")
WORST = "Where a line covers short and long texts or several methods, the worst counts."
BY_ROUTE = (
    "### By the best route\n\nThe same methods by the [route](how-to/explain-your-model.md#routes) that the package's "
    "own trial takes most often of three times, against the same floor of PyTorch's own passes:"
)


def targets_section(records: Records) -> str:
    """Both tables, and what is missed in them."""
    own = lines(records, "cpu")
    parts = [
        "## What it must reach",
        _table(own),
        WORST,
        *_missed(own, records),
        *(_by_route(records) if routes_of(records) else []),
    ]
    return "\n\n".join(parts)


def _by_route(records: Records) -> list[str]:
    """The routes of all places, and the targets by them."""
    named = [(place, route["name"], route["why"]) for place, route in routes_of(records).items()]
    routes = [f"- {place}: **{EARLIER.get(name, name)}** ({reason})" for place, name, reason in named]
    by_route = route_lines(records)
    table = [_table(by_route), *_missed(by_route, records)] if by_route else []
    return [BY_ROUTE, "\n".join(routes), *table]


def _table(targets: Sequence[Line]) -> str:
    return listed([_row(line) for line in targets], HEAD)


def _row(line: Line) -> tuple[str, ...]:
    aim = "" if line.aim is None else f"{line.aim:g}"
    return line.what, f"**{line.shown}**", f"{line.must:g}", aim, line.verdict


def _missed(targets: Sequence[Line], records: Records) -> list[str]:
    """A list of what is missed, each with its reason."""
    missed = [line.what for line in targets if "must missed" in line.verdict]
    reasons = [f"- **{what}.** {why(what, records)}".rstrip() for what in missed]
    return ["What is missed, and why:", "\n".join(reasons)] if reasons else []
