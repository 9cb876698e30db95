"""Many texts on one page: what each method's colours mean, once, then one card a text."""

from collections.abc import Sequence

from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import Kind, Spans
from pellucid.reports.markup.colours import Scales, scale_key, scales_of
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.markup.tables import definition_list
from pellucid.reports.page.card import card
from pellucid.reports.page.groups import by_example, by_method
from pellucid.reports.page.heat_map import caution_lines, colour_bar, drawable_view
from pellucid.reports.wording.method_facts import MethodFacts, facts_of, in_words


def page_scales(explanations: Sequence[Explanation], unit: Kind = "word") -> Scales:
    """One symmetric scale a method for all heat maps of a page."""
    return scales_of(drawable_view(one, unit) for one in explanations if not isinstance(one.units, Spans))


def texts_view(
    explanations: Sequence[Explanation], *, scales: Scales | None = None, unit: Kind = "word"
) -> Markup:
    """The key to the methods, then the explanations grouped by text, in the order of their first appearance.

    scales: from `page_scales` of everything on the page (None: of these explanations).
    """
    scales = page_scales(explanations, unit) if scales is None else scales
    shared = shared_caveats(explanations)
    hide = frozenset(caveat for caveats in shared.values() for caveat in caveats)
    cards = (card(group, scales=scales, unit=unit, hide=hide) for group in by_example(explanations))
    return fragment(methods_key(explanations, scales, shared), element("div", *cards, class_="pl-cards"))


def shared_caveats(explanations: Sequence[Explanation]) -> dict[str, tuple[str, ...]]:
    """The caveats that a method repeats for every one of several texts. The key shows them once."""
    return {
        method: tuple(
            caveat
            for caveat in group[0].caveats
            if len(group) > 1 and all(caveat in other.caveats for other in group)
        )
        for method, group in by_method(explanations).items()
    }


def methods_key(
    explanations: Sequence[Explanation], scales: Scales, shared: dict[str, tuple[str, ...]]
) -> Markup:
    """One line a method: how to read it, the score of its full colour, and what it computes, for the expert."""
    groups = by_method(explanations)
    lines = (_key_line(group, scales, shared[method]) for method, group in groups.items())
    return definition_list(lines, "pl-key")


def _key_line(
    group: Sequence[Explanation], scales: Scales, caveats: tuple[str, ...]
) -> tuple[Markup, Markup]:
    facts = facts_of(group[0].method, group)
    known = dict.fromkeys(scales[scale_key(view)] for view in group if scale_key(view) in scales)
    bars = [colour_bar(scale, facts.signed) for scale in known]
    return name(facts.title), fragment(
        in_words(facts), " ", *bars, *caution_lines(caveats), _what_it_computes(facts)
    )


def _what_it_computes(facts: MethodFacts) -> Markup | None:
    described = " ".join(part for part in (facts.summary, facts.paper) if part)
    if not described:
        return None
    return element("details", element("summary", "What it computes"), element("p", described))
