"""Many texts on one page: one card a text, then what each method's colours mean and how far it can be believed, once."""

from collections.abc import Mapping, Sequence

from pellucid.drawing.card import by_example, by_method, card
from pellucid.drawing.colours import Scales, scale_key, scales_of
from pellucid.drawing.heat_map import caution_lines, colour_bar, drawable_view, small_print
from pellucid.drawing.html import Markup, definition_list, element, fragment, name
from pellucid.drawing.method_facts import MethodFacts, facts_of, in_words, readable
from pellucid.drawing.page import glossary_view
from pellucid.drawing.wording import worst_checks_in_words
from pellucid.results.explanation import Explanation
from pellucid.text.units import Kind, Spans


def page_scales(explanations: Sequence[Explanation], unit: Kind = "word") -> Scales:
    """One symmetric scale a method for all heat maps of a page."""
    return scales_of(drawable_view(one, unit) for one in explanations if not isinstance(one.units, Spans))


def texts_view(
    explanations: Sequence[Explanation], *, scales: Scales | None = None, unit: Kind = "word"
) -> Markup:
    """The explanations grouped by text, in the order of their first appearance, then the key to the methods.

    scales: from `page_scales` of everything on the page (None: of these explanations).
    """
    scales = page_scales(explanations, unit) if scales is None else scales
    shared = shared_caveats(explanations)
    hide = frozenset(caveat for caveats in shared.values() for caveat in caveats)
    groups = by_example(explanations)
    cards = (card(group, scales=scales, unit=unit, hide=hide, checks=len(groups) == 1) for group in groups)
    return fragment(
        shared_cautions(shared),
        element("div", *cards, class_="pl-cards"),
        methods_key(explanations, scales, checks=len(groups) > 1),
    )


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


def shared_cautions(shared: Mapping[str, tuple[str, ...]]) -> Markup | None:
    """What is to be kept in mind of a method in every text, in one folded line above the cards."""
    cautions = {method: caveats for method, caveats in shared.items() if caveats}
    if not cautions:
        return None
    summary = element("summary", "⚠ Cautions about ", name(", ".join(map(readable, cautions))))
    return element(
        "details", summary, *caution_lines(sum(cautions.values(), ())), class_="pl-cautions pl-shared"
    )


def methods_key(explanations: Sequence[Explanation], scales: Scales, checks: bool) -> Markup:
    """One line a method: how to read it, the score of its full colour, its checks, and what it computes.

    checks: whether to say how the worst of all texts did in each check.
    """
    groups = by_method(explanations)
    lines = (_key_line(group, scales, checks) for group in groups.values())
    heading = element("h3", "The methods", class_="pl-heading")
    return fragment(heading, definition_list(lines, "pl-key"), glossary_view(_expert_terms(explanations)))


def _expert_terms(explanations: Sequence[Explanation]) -> set[str]:
    """The words of the facts for the expert that need an explanation."""
    names = {name for one in explanations for name in one.diagnostics}
    return {"digest", "seed"} | names | {one.target.output for one in explanations}


def _key_line(group: Sequence[Explanation], scales: Scales, checks: bool) -> tuple[Markup, Markup]:
    facts = facts_of(group[0].method, group)
    known = dict.fromkeys(scales[scale_key(view)] for view in group if scale_key(view) in scales)
    bars = [colour_bar(scale, facts.signed) for scale in known]
    worst = small_print(worst_checks_in_words(group) if checks else [])
    return name(facts.title), fragment(in_words(facts), " ", *bars, worst, _what_it_computes(facts))


def _what_it_computes(facts: MethodFacts) -> Markup | None:
    described = " ".join(part for part in (facts.summary, facts.paper) if part)
    if not described:
        return None
    return element("details", element("summary", "What it computes"), element("p", described))
