"""A map of concepts by layer: a page, a notebook and a terminal, each with a line a chain of concepts that go on."""

from collections.abc import Mapping
from pathlib import Path

from pellucid.base.kinds import renderers
from pellucid.discovery.concept import NO_NAME, LearntConcept
from pellucid.discovery.layer_map import ConceptMap
from pellucid.discovery.page import matters_in_words
from pellucid.drawing.html import Markup, element, header_row, name, scroll_box, table
from pellucid.drawing.page import (
    Opening,
    Section,
    caveats_section,
    facts_section,
    notebook_sections,
    write_report,
    written_on,
)
from pellucid.drawing.terminal import Line, caution_lines, indented, line, printed
from pellucid.drawing.wording import three
from pellucid.explaining.views.opening import texts_in_words

GUIDE = (
    "A concept goes on where its activations in the same words are nearer to those of its partner in the next layer "
    "than to those of random directions there. A line is one concept on its way; ▲ marks layers in which the answer "
    "depends on it more than on a random direction."
)


def map_in_words(concept_map: ConceptMap) -> str:
    """How many concepts of each layer go on in the next one."""
    sentences = []
    for learnt in concept_map.layers[:-1]:
        links = concept_map.links_from(learnt.layer)
        going = sum(link.goes_on for link in links)
        sentences.append(f"{going} of {len(learnt)} concepts of layer {learnt.layer} in layer {links[0].next_layer}")
    return f"Go on: {'; '.join(sentences)}."


@renderers.add(
    "page_of_concept_map",
    draws="concept map",
    page_of=("pellucid.discovery.layer_map.ConceptMap",),
    heading="Concepts from layer to layer",
)
def map_page(concept_map: ConceptMap, path: str | Path, title: str, about: Mapping[str, object] | None = None) -> Path:
    """Write the map to one HTML file; about: facts that are shown last."""
    first = concept_map.layers[0]
    facts = (
        f"Model {first.model}",
        f"{len(first)} concepts a layer, by {first.method}",
        texts_in_words(int(str(first.about.get("texts", 0))), str(first.about.get("data", ""))),
        written_on(),
    )
    done = [facts_section("What was done", "", {**first.about, "method": first.method, **(about or {})})]
    guide, opening = element("p", GUIDE, class_="pl-lead"), Opening(facts, map_in_words(concept_map))
    return write_report(path, title=title, sections=[*map_sections(concept_map), *done], guide=guide, opening=opening)


def map_sections(concept_map: ConceptMap) -> list[Section]:
    """The table of chains, and what to keep in mind."""
    layers = [learnt.layer for learnt in concept_map.layers]
    r = {(link.next_layer, link.partner): link.r for link in concept_map.links}
    rows = [element("tr", *(_cell(chain, layer, r) for layer in layers)) for chain in concept_map.chains()]
    head = header_row([f"layer {layer}" for layer in layers])
    chains = scroll_box(table(head, rows, "pl-table"), "Concepts by layer")
    cautions = dict.fromkeys(caveat for learnt in concept_map.layers for caveat in learnt.caveats)
    return [Section("Which concepts go on", "", chains), caveats_section([*cautions])]


def _cell(chain: Mapping[int, LearntConcept], layer: int, r: Mapping[tuple[int, int], float]) -> Markup:
    if layer not in chain:
        return element("td")
    concept = chain[layer]
    symbol, _, css_class = matters_in_words(concept.removal)
    mark = element("span", symbol, class_=css_class)
    near = element("small", f"r = {three(r[layer, concept.id])}") if layer != min(chain) else None
    return element("td", f"{concept.id} ", name(concept.name), " ", mark, near)


@renderers.add(draws="concept map")
def notebook_concept_map(concept_map: ConceptMap) -> str:
    """The table of chains, for `_repr_html_`."""
    return notebook_sections(map_sections(concept_map))


@renderers.add(draws="concept map")
def terminal_concept_map(concept_map: ConceptMap, *, colour: bool | None = None, width: int | None = None) -> str:
    """How many concepts go on, then a line a chain of two layers or more.

    colour: None asks whether the standard output is a terminal. width: None takes the terminal's.
    """
    r = {(link.next_layer, link.partner): link.r for link in concept_map.links}
    title = f"Layers {', '.join(str(learnt.layer) for learnt in concept_map.layers)} of {concept_map.layers[0].model}"
    lines: list[Line] = [line(title, style="bold"), line(map_in_words(concept_map))]
    cautions = dict.fromkeys(caveat for learnt in concept_map.layers for caveat in learnt.caveats)
    chains = [chain for chain in concept_map.chains() if len(chain) > 1]
    for chain in chains:
        steps = [
            f"{layer}: {concept.id} {concept.name} {matters_in_words(concept.removal)[0]}"
            + (f" (r {three(r[layer, concept.id])})" if layer != min(chain) else "")
            for layer, concept in chain.items()
        ]
        lines += indented([" → ".join(steps)])
    alone = sum(len(chain) == 1 for chain in concept_map.chains())
    named = sum(concept.name != NO_NAME for learnt in concept_map.layers for concept in learnt.concepts)
    every = sum(map(len, concept_map.layers))
    lines.append(line(f"{alone} concepts are in one layer alone; {named} of {every} have a name."))
    return printed([*lines, *caution_lines(tuple(cautions))], colour, width)
