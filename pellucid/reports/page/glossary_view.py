"""The terms of a part of a page, explained where the reader meets them."""

from collections.abc import Iterable

from pellucid.reports.markup.html import Markup, element
from pellucid.reports.markup.tables import definition_list
from pellucid.reports.wording.glossary import terms_in


def glossary_view(texts: Iterable[str]) -> Markup | None:
    """What the terms in these texts mean, folded; nothing where there is none."""
    terms = terms_in(texts)
    if not terms:
        return None
    summary = element("summary", f"What {_listed(list(terms))} mean{'s' if len(terms) == 1 else ''}")
    return element("details", summary, definition_list(terms.items(), "pl-facts"), class_="pl-glossary")


def _listed(terms: list[str]) -> str:
    quoted = [f"“{term}”" for term in terms]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)
