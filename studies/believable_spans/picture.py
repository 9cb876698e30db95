"""What each lever moves on dev, as SVG: models down; accuracy, spans read alone and spans left out across."""

from pellucid.results.interval import Interval
from studies.shared.claims import ENOUGH_SEEDS
from studies.shared.interval_plot import Panel, interval_plot
from studies.shared.units import Numbers


def as_picture(numbers: Numbers) -> str:
    """Each model's lead over the plain one in accuracy, and its spans' lead over random spans."""
    models = {_titled(of): of for name, of in numbers["models"].items() if name != "plain"}
    few = [title for title, of in models.items() if len(of["seeds"]) < ENOUGH_SEEDS]
    spans = {title: of["spans_on_dev"] for title, of in models.items() if of["spans_on_dev"]}
    panels = [
        Panel(
            "accuracy, points",
            "better than plain →",
            {title: _interval(of["unread_over_plain"]) for title, of in models.items()},
        ),
        Panel(
            "spans alone agree, points",
            "more often than random spans →",
            {title: _interval(of["over_random"]) for title, of in spans.items()},
        ),
        Panel(
            "fall without the spans",
            "more than random spans →",
            {title: _interval(of["without_over_random"]) for title, of in spans.items()},
        ),
    ]
    about = numbers["about"]
    foot = (
        f"accuracy on unread texts, spans of dev texts; up to {about['seeds']} seeds; 95 % intervals over seeds, in "
        f"which texts are nested"
    )
    return interval_plot(f"{about['title']}: what each lever does", list(models), panels, foot, grey=few)


def _titled(of: Numbers) -> str:
    """The title, with the number of seeds where they are too few for a verdict."""
    count = len(of["seeds"])
    return of["title"] if count >= ENOUGH_SEEDS else f"{of['title']} ({count} seed{'s' if count > 1 else ''})"


def _interval(record: Numbers | None) -> Interval | None:
    return None if record is None else Interval(**record)
