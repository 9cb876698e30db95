"""The door `concept_map`: concepts of several layers, and which of a layer go on in the next one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pellucid.base.checks import quoted, whole
from pellucid.base.errors import BadSetting, ModelCannot
from pellucid.base.files import possible_path
from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import renderers
from pellucid.base.processes import Progress, silent
from pellucid.discovery.concept import LearntConcept
from pellucid.discovery.dictionaries import random_dictionary
from pellucid.discovery.door import find_concepts
from pellucid.discovery.naming import correlations
from pellucid.discovery.record import LearntConcepts
from pellucid.discovery.states import MOST_STATES, Level, StateSample, sampled_states, state_question
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.model import Model
from pellucid.text.example import Example, distinct_texts

DRAWS, CERTAIN = 20, 0.95  # searches of chance in the next layer, and the share of them that a link must pass


@dataclass(frozen=True)
class ConceptLink:
    """A concept of one layer and its partner in the next one, by the best matching.

    layer, concept: the number of a layer, and of a concept there; next_layer, partner: likewise. r: the correlation of
    their activations in the same words. limit: what the best of as many random directions of the next layer stays below
    in 95 of 100 draws.
    """

    layer: int
    concept: int
    next_layer: int
    partner: int
    r: float
    limit: float

    @property
    def goes_on(self) -> bool:
        """Whether the concept is nearer to its partner than to random directions."""
        return self.r > self.limit


@dataclass(frozen=True, eq=False, repr=False)
class ConceptMap:
    """Concepts of several layers, lowest first, and the links between neighbours."""

    layers: tuple[LearntConcepts, ...]
    links: tuple[ConceptLink, ...]

    def links_from(self, layer: int) -> tuple[ConceptLink, ...]:
        """Those between a layer and the next one."""
        return tuple(link for link in self.links if link.layer == layer)

    def chains(self) -> list[dict[int, LearntConcept]]:
        """Concepts that go on from layer to layer: number of a layer -> the concept there; the longest chains first."""
        after = {(link.layer, link.concept): (link.next_layer, link.partner) for link in self.links if link.goes_on}
        concepts = {(learnt.layer, concept.id): concept for learnt in self.layers for concept in learnt.concepts}
        chains = []
        for key in concepts:
            if key not in after.values():
                chain = [key]
                while chain[-1] in after:
                    chain.append(after[chain[-1]])
                chains.append({layer: concepts[layer, concept] for layer, concept in chain})
        return sorted(chains, key=len, reverse=True)

    def __repr__(self) -> str:
        layers = ", ".join(str(learnt.layer) for learnt in self.layers)
        return f"<ConceptMap: layers {layers} of {self.layers[0].model}>"

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_concept_map").make(self)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_concept_map").make(self)

    def record(self) -> dict[str, object]:
        """Plain values for JSON."""
        links = [vars(link) | {"goes_on": link.goes_on} for link in self.links]
        return nan_as_none({"layers": [learnt.record() for learnt in self.layers], "links": links})


def concept_map(
    model: ModelSource,
    data: Data,
    layers: Sequence[int] | Literal["all"] = "all",
    *,
    n: int = 10,
    method: str = "nmf",
    level: Level = "word",
    most_states: int = MOST_STATES,
    seed: int = 0,
    out: str | Path | None = None,
    progress: bool | Progress | None = None,
    **settings: Any,
) -> ConceptMap:
    """Find concepts in several layers, and say which of a layer go on in the next one.

    model, data, n, method, level, most_states, seed, settings: as in `find_concepts`, the same for all layers.
    layers: two numbers or more, from 0, the first block's input, to the number of blocks; or "all".
    out: a folder with a folder for each layer, such as layer-3.
    progress: as in `explain`.

    Returns a `ConceptMap`. Raises as `find_concepts`, and `BadSetting` for fewer than two layers.

    >>> reviews = ["A good film.", "A dull film.", "Fine acting.", "Bad, dull acting."] * 10
    >>> concept_map = pellucid.concept_map("my-classifier", reviews, [1, 2], n=3, method="svd")
    >>> [learnt.layer for learnt in concept_map.layers], len(concept_map.links)
    ([1, 2], 3)
    """
    whole("seed", seed, 0, HIGHEST_SEED)
    model = model_from(model)
    numbers = _layers(model, layers)
    folder = None if out is None else possible_path(out)
    how = {"n": n, "method": method, "level": level, "most_states": most_states, "seed": seed, **settings}
    columns = {name: settings[name] for name in ("text", "label", "label_map") if name in settings}
    examples = distinct_texts(examples_for(model, data, names_data=True, split="train", strange="allowed", **columns))
    every = tuple(
        find_concepts(
            model, data, layer, out=None if folder is None else folder / f"layer-{layer}", progress=progress, **how
        )
        for layer in numbers
    )
    samples = _samples(model, examples, numbers, level, most_states, seed)
    links = tuple(
        link for pair in pairwise(zip(every, samples, strict=True)) for link in _linked(*pair[0], *pair[1], seed)
    )
    return ConceptMap(every, links)


def _layers(model: Model, layers: object) -> list[int]:
    """The numbers, lowest first; raises `BadSetting` for anything else than two layers or more of the model."""
    if "hidden_states" not in model.capabilities:
        raise ModelCannot(f"{model.name} shows no hidden states, and concepts are read from them; give another model.")
    if isinstance(layers, str) and layers == "all":
        return list(range(model.n_layers + 1))
    numbers = [*layers] if isinstance(layers, list | tuple | range) else []
    strange = any(type(layer) is not int or not 0 <= layer <= model.n_layers for layer in numbers)
    if strange or len(set(numbers)) < 2:
        raise BadSetting(
            f"layers={quoted(layers)} is not possible for {model.name}; give 'all', or a list of two numbers or more "
            f"from 0 to {model.n_layers}."
        )
    return sorted(set(numbers))


def _samples(
    model: Model, examples: Sequence[Example], layers: Sequence[int], level: Level, most_states: int, seed: int
) -> list[StateSample]:
    """The states of the same words in each layer."""
    questions = [state_question(model, examples, layer, level, most_states, seed) for layer in layers]
    share = min(question.share for question in questions)
    return [sampled_states(replace(question, share=share), None, silent) for question in questions]


def _linked(
    first: LearntConcepts, sample: StateSample, second: LearntConcepts, following: StateSample, seed: int
) -> list[ConceptLink]:
    """Each concept of a layer with its partner in the next one.

    Kuhn (1955), "The Hungarian Method for the Assignment Problem", of correlations.
    """
    from scipy.optimize import linear_sum_assignment

    ours, theirs = first.dictionary.activations(sample.states), second.dictionary.activations(following.states)
    r = correlations(ours.T, theirs)
    draws = [random_dictionary(following.states, len(second), seed + 20 + draw) for draw in range(DRAWS)]
    by_chance = [np.abs(correlations(ours.T, draw.activations(following.states))).max(1) for draw in draws]
    limits = np.quantile(by_chance, CERTAIN, axis=0)
    pairs = zip(*linear_sum_assignment(r, maximize=True), strict=True)
    return [
        ConceptLink(first.layer, row + 1, second.layer, column + 1, float(r[row, column]), float(limits[row]))
        for row, column in ((int(row), int(column)) for row, column in pairs)
    ]
