"""The view of trust: what was measured of a model's methods, beside random scores; and what measures it."""

from collections.abc import Iterator

from pellucid.base.errors import BadInput
from pellucid.base.kinds import views
from pellucid.comparison.leads import FEWEST_TEXTS
from pellucid.drawing.comparison_section import comparison_section
from pellucid.drawing.html import Markup, definition_list, element, name
from pellucid.drawing.method_facts import readable
from pellucid.drawing.widgets import button, checkbox, choice, form, labelled, link, widget
from pellucid.results.table import CHANCE, Table
from pellucid.studio.explained import seconds_in_words
from pellucid.studio.measurement import (
    MOST_TEXTS,
    Estimate,
    Wish,
    begin,
    checked_wish,
    estimating,
    offered,
    sources,
    usual_wish,
)
from pellucid.studio.trust_line import measuring_time, trust_line
from pellucid.studio.visit import Elsewhere, Page, Visit

NOTHING = (
    "Nothing was measured of {model} yet. A measurement explains some texts by several methods, hides the words that "
    "each found most important, and sees whether the answer moves more than when random words are hidden."
)
NO_DATA = (
    "There are no texts to measure it with: start the studio with --data and the name of labelled texts, or with a "
    "run of this model. A comparison that was made before is shown if its folder is opened too."
)
MEANWHILE = "Readers can go on asking: their questions come between, and may take a few seconds longer."


@views.add(title="Trust")
def trust(visit: Visit) -> Page | Elsewhere:
    """What was measured of a model, or an offer to measure it; with a form, the beginning of a measurement."""
    names = list(visit.studio.models)
    if not visit.path:
        return Page("Which explanations can be believed?", [_models(visit)]) if len(names) > 1 else _of(visit, names[0])
    visit.studio.model(visit.path[0])
    return _of(visit, visit.path[0])


def _models(visit: Visit) -> Markup:
    """Each model with its line."""
    entries = (
        (link(name(model), visit.address("trust", model)), element("span", trust_line(visit.studio, model, ())[0]))
        for model in visit.studio.models
    )
    return definition_list(entries, "pl-key")


def _of(visit: Visit, model: str) -> Page | Elsewhere:
    if visit.form is not None:
        return _sent(visit, model)
    running = visit.studio.measurements.get(model)
    title = f"Which explanations of {model} can be believed?"
    if running is not None and running.is_running:
        return Page(title, [_progress(visit, model)], model, refresh=2)
    table = visit.studio.table(visit.studio.model(model))
    body = [
        _error(visit, model),
        *(_measured(table) if table is not None else [_lead(model)]),
        *_offer(visit, model, table),
    ]
    return Page(title, body, model, of_report=None if table is None else lambda: ([], table))


def _lead(model: str) -> Markup:
    return element("p", name(NOTHING.format(model=model)), class_="pl-lead")


def _error(visit: Visit, model: str) -> Markup | None:
    """Why the last measurement ended without a table."""
    last = visit.studio.measurements.get(model)
    why = last.error if last is not None else ""
    return element("p", name(f"The last measurement ended: {why}"), class_="pl-caution") if why else None


def _measured(table: Table) -> Iterator[Markup | None]:
    """The card and the table of a comparison, as on the page of its report."""
    section = comparison_section(table)
    lead = element("p", section.intro, class_="pl-lead")
    yield element("section", element("h2", name(section.heading)), lead, section.body)


def _progress(visit: Visit, model: str) -> Markup:
    """How far a measurement is, with the way to end it."""
    measurement = visit.studio.measurements[model]
    job, stop = measurement.job, button("Stop measuring", name="do", value="stop")
    return element(
        "section",
        element("p", f"Being measured: {measurement.in_words}.", role="status"),
        widget("progress", value=job.done, max=job.total),
        element("p", MEANWHILE, class_="pl-note"),
        form(visit.address("trust", model), stop),
        class_="st-waiting",
    )


# The offer: which texts, how many, which methods, and how long it takes.


def _offer(visit: Visit, model: str, table: Table | None) -> Iterator[Markup | None]:
    if not sources(visit.studio, model):
        yield element("p", NO_DATA)
        return
    wish = _wish_of_address(visit, model, table)
    is_sampled = "methods" in visit.query  # nothing is computed before a reader asks
    estimate: Estimate | None = measuring_time(visit.studio, wish)
    if is_sampled:
        estimate = visit.answer(model, *estimating(visit.studio, wish))
    heading = element("h2", "Measure it" if table is None else "Measure again, or other methods")
    source = "the time of a few texts" if is_sampled else "the pace of the texts explained so far"
    yield element("section", heading, _form(visit, wish, estimate, source))


def _form(visit: Visit, wish: Wish, estimate: Estimate | None, source: str) -> Markup:
    """The form; source: what the estimate goes by."""
    data = [(source, source) for source in sources(visit.studio, wish.model)]
    methods = dict.fromkeys([*wish.methods, *offered(visit.studio.model(wish.model))])
    boxes = (checkbox("methods", method, name(readable(method)), method in wish.methods) for method in methods)
    count = widget("input", type="number", name="texts", value=wish.n_texts, min=1, max=MOST_TEXTS, required=True)
    return form(
        visit.address("trust", wish.model),
        labelled("Texts of", choice("data", data, wish.data)),
        labelled("How many", count),
        widget("fieldset", widget("legend", "Methods"), element("div", *boxes, class_="st-methods")),
        element("p", f"A verdict takes {FEWEST_TEXTS} texts or more; fewer give intervals alone.", class_="pl-note"),
        _estimate_line(estimate, source),
        element("p", _begin(estimate), " ", button("How long will it take?", name="do", value="estimate")),
        css_class="st-form",
    )


def _begin(estimate: Estimate | None) -> Markup | None:
    if isinstance(estimate, str):
        return None
    title = "Measure it" if estimate is None else f"Measure it ({seconds_in_words(estimate)})"
    return button(title, name="do", value="measure", class_="st-main")


def _estimate_line(estimate: Estimate | None, source: str) -> Markup | None:
    if estimate is None:
        return None
    if isinstance(estimate, str):
        return element("p", name(f"This cannot be measured: {estimate}"), class_="pl-caution")
    seconds = seconds_in_words(estimate)
    return element("p", f"By {source}, it takes {seconds}. {MEANWHILE}", class_="pl-note")


def _wish_of_address(visit: Visit, model: str, table: Table | None) -> Wish:
    """What the address names; else what is offered first, with the methods that were measured before."""
    usual = usual_wish(visit.studio, model)
    known = offered(visit.studio.model(model))
    before = [title for title in table.methods if title in known and title != CHANCE] if table is not None else []
    methods = tuple(filter(None, visit.query.get("methods", "").split(","))) or tuple(before) or usual.methods
    wish = Wish(model, visit.query.get("data", usual.data), visit.whole_number("texts", usual.n_texts), methods)
    return checked_wish(visit.studio, wish)


def _sent(visit: Visit, model: str) -> Elsewhere:
    """What a form asks for: to stop, to begin, or only how long it takes."""
    if visit.field("do") == "stop":
        if model in visit.studio.measurements:
            visit.studio.measurements[model].stop()
        return Elsewhere(visit.address("trust", model))
    texts = visit.field("texts")
    if not (texts.isascii() and texts.isdecimal() and len(texts) < 10):
        raise BadInput(f"How many texts? Give a whole number from 1 to {MOST_TEXTS:,}.")
    wish = checked_wish(visit.studio, Wish(model, visit.field("data"), int(texts), tuple(visit.fields("methods"))))
    if visit.field("do") == "measure":
        begin(visit.studio, wish)
        return Elsewhere(visit.address("trust", model))
    wanted = {"data": wish.data, "texts": wish.n_texts, "methods": ",".join(wish.methods)}
    return Elsewhere(visit.address("trust", model, **wanted))
