"""The page around a view: navigation, whether the model's explanations can be believed, and what is being computed."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pellucid.base.kinds import views
from pellucid.drawing.html import Markup, definition_list, element, name
from pellucid.drawing.widgets import button, form, hidden_field, link, served_page, widget
from pellucid.explaining.report import report as write_report
from pellucid.studio.record import Studio
from pellucid.studio.static_files import static_file
from pellucid.studio.trust_line import is_believed, trust_line
from pellucid.studio.visit import File, Page, Visit
from pellucid.studio.work import DeskJob

SAVE = "save"  # in the query of an address: the page's report as a file
SHEET, ICON, SCRIPT = "style.css", "icon.svg", "studio.js"


def framed(visit: Visit, page: Page) -> str:
    """The whole page of a view."""
    trust = [_trust(visit, model, page.methods) for model in (page.model, *page.beside) if model]
    header = element("header", element("h1", name(page.title)), *trust)
    address = visit.address(visit.view, *visit.path, **{**visit.query, SAVE: "yes"})
    save = element("p", link("Save this page as a report", address), class_="st-save") if page.of_report else None
    return _document(visit, page.title, header, *page.body, save, refresh=page.refresh)


def report_of(page: Page) -> File:
    """What a page shows as a file to be saved: the static report that the command writes of the same results."""
    assert page.of_report is not None
    with TemporaryDirectory() as folder:
        path = write_report(*page.of_report(), path=Path(folder) / "page.html")
        return File("explanation.html", path.read_text(encoding="utf-8"))


def waiting_page(visit: Visit, job: DeskJob) -> str:
    """The page while an answer is computed; the browser asks again every second, with or without a script."""
    share = widget("progress", value=job.done, max=job.total) if job.total else widget("progress")
    counted = f": {job.done:,} of {job.total:,}" if job.total else ""
    line = element("p", f"{job.stage.capitalize()}{counted} …", share, class_="st-waiting", role="status")
    leave = element("p", "Whoever leaves this page stops it.", class_="pl-note")
    stop = form(_here(visit), hidden_field("stop", job.key), button("Stop")) if job.reader == visit.reader else None
    return _document(visit, "Computing", element("h1", "Computing"), line, stop, leave, refresh=1)


def stopped_page(visit: Visit) -> str:
    """The page after a reader has stopped what was computed for another one."""
    title = element("h1", "Stopped")
    links = [link("Compute it again", _here(visit)), link("Begin anew", visit.address("text"))]
    if visit.view == "text" and visit.path:
        links.insert(1, link("Fewer methods, or a part of the text", visit.address("text", visit.path[0], ask="yes")))
    note = element("p", "Nothing more is computed for that page.")
    return _document(visit, "Stopped", title, note, *(element("p", each) for each in links))


def _here(visit: Visit) -> str:
    return visit.address(visit.view, *visit.path, **visit.query)


def error_page(visit: Visit, sentence: str) -> str:
    """A page with one sentence that says what is wrong."""
    back = element("p", link("Begin anew", visit.address("text")))
    return _document(
        visit, "This does not work", element("h1", "This does not work"), element("p", name(sentence)), back
    )


def refused_runs(studio: Studio) -> Markup | None:
    """The runs that were named at the start and could not be opened, each with the reason."""
    if not studio.refused:
        return None
    entries = ((name(title), name(why)) for title, why in studio.refused.items())
    return element("section", element("h2", "Runs that could not be opened"), definition_list(entries, "pl-facts"))


def _document(visit: Visit, title: str, *body: Markup | None, refresh: int | None = None) -> str:
    skip = link("To the content", "#content", class_="st-skip")
    whole = element(
        "div",
        skip,
        element("nav", *_entries(visit), aria_label="Views", class_="st-nav"),
        element("main", *body, id="content"),
        class_="pellucid pl-page st-page",
    )
    sheet, icon, script = (visit.address(name, v=static_file(name).digest) for name in (SHEET, ICON, SCRIPT))
    return served_page(f"{title} – Pellucid", sheet, icon, [script], whole, refresh=refresh)


def _entries(visit: Visit) -> Iterator[Markup]:
    """The views that have a title, and the studio's name."""
    yield element("strong", "Pellucid", class_="st-name")
    for view in sorted(views.names(), key=lambda view: ORDER.index(view) if view in ORDER else len(ORDER)):
        title = str(views.get(view).facts["title"])
        if title and _is_open(visit, view):
            yield link(title, visit.address(view), aria_current=_current(visit, view))


def _current(visit: Visit, view: str) -> str | None:
    """Whether a tab is that of the page; views without a tab, such as an edit, belong to the text."""
    if view == visit.view:
        return "page"
    return "true" if view == "text" and visit.view in views and not views.get(visit.view).facts["title"] else None


ORDER = ("text", "models", "run", "trust")  # views of plug-ins come last


def _is_open(visit: Visit, view: str) -> bool:
    """Whether what a view shows is open here."""
    studio = visit.studio
    needed = {"text": bool(studio.models), "models": len(studio.models) > 1, "run": bool(studio.runs)}
    needed["concepts"] = bool(studio.learnt)
    return needed.get(view, bool(studio.models))


def _trust(visit: Visit, model: str, methods: Sequence[str]) -> Markup:
    """Whether the colours can be believed, with the address where that is measured; of which model, where several are
    open.
    """
    sentence, title = trust_line(visit.studio, model, methods)
    more = None if visit.view == "trust" else link(title, visit.address("trust", model))
    table = visit.studio.table(visit.studio.model(model))
    css_class = "st-trust st-measured" if is_believed(table, methods) else "st-trust"
    whose = (element("strong", name(model)), ": ") if len(visit.studio.models) > 1 else ()
    return element("p", *whose, name(sentence), " ", more, class_=css_class)
