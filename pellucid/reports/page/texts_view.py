"""Many texts on one page: what each method's colours mean, once, then one card a text."""

from collections.abc import Sequence

from pellucid.core.results.explanation import Explanation
from pellucid.core.text.units import Kind, Spans
from pellucid.reports.markup.colours import Scales, scale_key, scales_of
from pellucid.reports.markup.html import Markup, element, fragment, name
from pellucid.reports.page.card import card
from pellucid.reports.page.heat_map import colour_bar, drawn, warnings
from pellucid.reports.wording.method_facts import facts_of, in_words


def page_scales(explanations: Sequence[Explanation], unit: Kind = "word") -> Scales:
    """One symmetric scale a method for all heat maps of a page."""
    return scales_of(drawn(found, unit) for found in explanations if not isinstance(found.units, Spans))


def texts_view(
    explanations: Sequence[Explanation], *, scales: Scales | None = None, unit: Kind = "word"
) -> Markup:
    """The key to the methods, then the explanations grouped by text, in the order given.

    scales: from `page_scales` of everything on the page (None: of these explanations).
    """
    scales = page_scales(explanations, unit) if scales is None else scales
    shared = shared_caveats(explanations)
    hide = frozenset(caveat for caveats in shared.values() for caveat in caveats)
    cards = (card(group, scales=scales, unit=unit, hide=hide) for group in by_example(explanations))
    return fragment(methods_key(explanations, scales, shared), element("div", *cards, class_="pl-cards"))


def by_example(explanations: Sequence[Explanation]) -> list[list[Explanation]]:
    """The explanations of each example, examples in order of appearance."""
    groups: dict[tuple, list[Explanation]] = {}
    for found in explanations:
        groups.setdefault((found.example.id, found.example.segments, found.example.label), []).append(found)
    return list(groups.values())


def by_method(explanations: Sequence[Explanation]) -> dict[str, list[Explanation]]:
    """The explanations of each method, methods in order of appearance."""
    groups: dict[str, list[Explanation]] = {}
    for found in explanations:
        groups.setdefault(found.method, []).append(found)
    return groups


def shared_caveats(explanations: Sequence[Explanation]) -> dict[str, tuple[str, ...]]:
    """The caveats that a method repeats for every one of several texts: told once, in the key."""
    groups = by_method(explanations).items()
    return {
        method: tuple(
            c for c in found[0].caveats if len(found) > 1 and all(c in other.caveats for other in found)
        )
        for method, found in groups
    }


def methods_key(
    explanations: Sequence[Explanation], scales: Scales, shared: dict[str, tuple[str, ...]]
) -> Markup:
    """One line a method: how to read it, the score of its full colour, and what it is for the expert."""
    groups = by_method(explanations)
    lines = (part for method, found in groups.items() for part in _key_line(found, scales, shared[method]))
    return element("dl", *lines, class_="pl-key")


def _key_line(
    found: Sequence[Explanation], scales: Scales, caveats: tuple[str, ...]
) -> tuple[Markup, Markup]:
    facts = facts_of(found[0].method, found)
    known = dict.fromkeys(scales[scale_key(view)] for view in found if scale_key(view) in scales)
    described = " ".join(part for part in (facts.summary, facts.paper) if part)
    more = (
        element("details", element("summary", "What it computes"), element("p", described))
        if described
        else None
    )
    bars = [colour_bar(scale, facts.signed) for scale in known]
    told = element("dd", in_words(facts), " ", *bars, *warnings(caveats), more)
    return element("dt", name(facts.title)), told
