"""The form in which a reader chooses rows of a run; all of it stands in the address, so a choice can be sent on."""

from collections.abc import Mapping

from pellucid.drawing.html import Markup, element
from pellucid.drawing.widgets import button, choice, form, labelled, link, widget
from pellucid.studio.row_choice import MOST_WORD, RowChoice, are_of_same_texts
from pellucid.studio.run_rows import OpenRun
from pellucid.studio.visit import Visit

MOST_NAMES = 100  # of answers or labels that a list shows; of more, the name is typed
ANY = ("", "any")
OUTCOME = (ANY, ("wrong", "wrong"), ("right", "right"))
CAUTION = (ANY, ("with", "with a caution"), ("without", "without"))
MISTAKES = ("", "surest mistakes first")
ORDER = (("unsure", "least sure first"), ("rows", "as in the data"))
CHANGED = ("changed", "most changed first")


def row_form(visit: Visit, title: str, opened: OpenRun, chosen: RowChoice) -> Markup:
    """The form, with what is chosen now."""
    facts = opened.facts
    order = [MISTAKES, *ORDER, *([CHANGED] if chosen.beside else [])]
    return form(
        visit.address("run", title),
        _names("answer", "Answer", facts.counts(facts.answers), chosen.answer),
        _names("label", "Label", facts.counts(facts.labels), chosen.label),
        labelled("The answer is", choice("outcome", OUTCOME, chosen.outcome)),
        _percent("least", "Sure: from", chosen.least),
        _percent("most", "to", chosen.most),
        labelled("Caution", choice("caution", CAUTION, chosen.caution)),
        labelled("Word", widget("input", type="text", name="word", value=chosen.word, maxlength=MOST_WORD, dir="auto")),
        labelled("Order", choice("order", order, chosen.order)),
        _beside(visit, title, opened, chosen),
        button("Show", class_="st-main"),
        element("span", link("All of them", visit.address("run", title))) if chosen.query else None,
        method="get",
        css_class="st-form st-rows",
    )


def _names(field: str, title: str, counts: Mapping[str, int], chosen: str) -> Markup | None:
    """A list of names with how often each occurs; nothing where there is none."""
    if not counts:
        return None
    if len(counts) > MOST_NAMES:
        return labelled(title, widget("input", type="text", name=field, value=chosen, dir="auto"))
    entries = [(each, f"{each} ({count:,})") for each, count in counts.items() if each]
    return labelled(title, choice(field, [ANY, *entries], chosen))


def _percent(field: str, title: str, chosen: str) -> Markup:
    return labelled(title, widget("input", type="number", name=field, value=chosen, min=0, max=100, placeholder="%"))


def _beside(visit: Visit, title: str, opened: OpenRun, chosen: RowChoice) -> Markup | None:
    """Other runs of the same texts; nothing where there is none."""
    runs = visit.studio.runs
    same = [each for each, stored in runs.items() if each != title and are_of_same_texts(opened.run, stored)]
    entries = [("", "no other run"), *((each, each) for each in same)]
    return labelled("Beside", choice("beside", entries, chosen.beside)) if same else None
