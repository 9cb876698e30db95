"""The page of a text as a file: the same report as `pellucid explain --html` writes."""

import tempfile
from pathlib import Path

from pellucid.base.kinds import views
from pellucid.explaining.report import report as write_report
from pellucid.studio.explained import explained
from pellucid.studio.visit import File, Visit


@views.add(title="")
def report(visit: Visit) -> File:
    """The static report of a text, to be saved."""
    _, question = visit.question
    side_by_side = explained(visit, question)
    shown = next(iter(side_by_side.values())) if len(side_by_side) == 1 else side_by_side
    with tempfile.TemporaryDirectory() as folder:
        path = write_report(
            shown, visit.studio.table(visit.studio.model(question.model)), path=Path(folder) / "page.html"
        )
        return File("explanation.html", path.read_text(encoding="utf-8"))
