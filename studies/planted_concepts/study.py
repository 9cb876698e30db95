"""Planted concepts: two reasons are planted in the texts that a classifier learns; are both among the concepts that are
found in its states?

Each reason is one of two made-up words in the text, so a text has two of four words, and its label says which (four
classes). A classifier learns them, and concepts of its layers are found by each way. A reason counts as found where a
concept goes with one of its two words: the square of r, of activation and word, is .5 or more, and r above what words
that are as frequent reach in 95 of 100 draws. The two reasons must have two concepts.

    python -m studies planted_concepts --out studies/planted_concepts

Finished units are kept and not repeated; the size small takes about two minutes a seed on one core. `--size tiny` takes
seconds.
"""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from pellucid.base.kinds import reasons
from pellucid.base.processes import Share, silent
from pellucid.data.built_in import first_edition
from pellucid.data.plant import PARTS, plant
from pellucid.discovery.dictionaries import Dictionary, discovered, random_dictionary
from pellucid.discovery.naming import NearConcept, nearest, word_pairs
from pellucid.discovery.states import MOST_STATES, sampled_states, state_question
from pellucid.explaining.answers import accuracy
from pellucid.models.composed.networks import Plan
from pellucid.run.model import Model
from pellucid.text.example import Example
from pellucid.text.lexicon import Concept
from pellucid.training.recipe import Recipe
from pellucid.training.train import train_model
from studies.planted_concepts.page import CHANCE, as_page, summarise
from studies.shared.options import ENCODER, FINISHED
from studies.shared.study import Records, Settings, Study, UnitStages, studies
from studies.shared.units import Numbers, Unit, text_digest

WAYS = ("ica", "kmeans", "nmf", "svd")  # written out, so finished units stay valid when there are more
ENOUGH = 0.5**0.5  # r: the concept then holds half of what being that word varies by
Parts = dict[str, list[Example]]


@dataclass(frozen=True)
class PlantedConceptsSize:
    """seeds: trainings. texts: to learn from. epochs: of each training. layers: whose states are searched. concepts: of
    each search.
    """

    seeds: int
    texts: int
    epochs: int
    layers: tuple[int, ...]
    concepts: int


SIZES = {"tiny": PlantedConceptsSize(2, 40, 1, (1,), 4), "small": PlantedConceptsSize(10, 600, 3, (3, 6), 20)}


@studies.add()
def planted_concepts() -> Study:
    """Are two planted reasons among the concepts that a model has made itself?"""
    return Study(
        sizes=SIZES,
        options=(ENCODER, FINISHED),
        work=UnitStages({"planted concepts": planted_units}),
        summary=lambda settings, records: summarise(about(settings), list(records["planted concepts"].values())),
        page=lambda settings, numbers: as_page(numbers),
    )


def about(settings: Settings) -> Numbers:
    """What all numbers depend on."""
    size = settings.size
    return {
        "texts": size.texts,
        "epochs": size.epochs,
        "layers": list(size.layers),
        "concepts": size.concepts,
        "seeds": size.seeds,
        "enough": ENOUGH,
    }


def planted_units(settings: Settings, records: Records) -> list[Unit]:
    """A training and its searches with each seed."""
    size: PlantedConceptsSize = settings.size
    return [
        Unit(
            f"seed-{seed}",
            about(settings) | {"digest": text_digest(two_reasons(size.texts, seed)[0])},
            partial(_searched, settings, seed),
            settings.encoder,
            "float32",
        )
        for seed in range(size.seeds)
    ]


def two_reasons(n: int, seed: int) -> tuple[Parts, list[Concept]]:
    """Texts with a word of each reason, labelled by both; and the four words, each as a concept of a person's."""
    call = reasons.calls(["token"])[0]
    first = plant({part: first_edition(part) for part in PARTS}, call, n=n, distractor=None, seed=seed)
    second = plant(first, call, n=n, distractor=None, seed=seed)
    labels = {example.id: example.label for part in first.values() for example in part}
    parts = {
        part: [
            replace(example, label=f"{labels[str(example.meta['carrier'])]} {example.label}") for example in examples
        ]
        for part, examples in second.items()
    }
    words = [
        Concept(f"{reason} {label}", (word,))
        for reason, examples in (("first", first["train"]), ("second", second["train"]))
        for word, label in sorted({(_reason_word(example), example.label) for example in examples})
    ]
    return parts, words


def _reason_word(example: Example) -> str:
    mark = example.rationales[0]
    return example.segments[mark.segment][mark.start : mark.end]


def _searched(settings: Settings, seed: int, share: Share) -> Numbers:
    """Train a model, search its layers, and delete it."""
    size: PlantedConceptsSize = settings.size
    parts, words = two_reasons(size.texts, seed)
    folder = settings.out / "models" / f"seed-{seed}"
    plan = Plan(settings.encoder, "first_token", {}, tuple(sorted({str(example.label) for example in parts["train"]})))
    recipe = Recipe(seed=seed, epochs=size.epochs, batch_size=16, learning_rate=1e-4, precision="float32")
    model = train_model(parts, plan, recipe, folder, "cpu", progress=lambda _, done, total: share(0.5 * done / total))
    layers = {str(layer): _of_layer(model, parts["train"], layer, words, size.concepts, seed) for layer in size.layers}
    numbers = {"seed": seed, "accuracy": accuracy(model, parts["test"]).mean, "layers": layers}
    shutil.rmtree(folder)
    return numbers


def _of_layer(
    model: Model, examples: Sequence[Example], layer: int, words: Sequence[Concept], count: int, seed: int
) -> dict[str, Numbers]:
    """Way of search -> what of the planted words its concepts hold; chance is as many random directions."""
    sample = sampled_states(state_question(model, examples, layer, "word", MOST_STATES, seed), None, silent)
    own = word_pairs(sample, examples, 1)
    ways = {}
    for method in (*WAYS, CHANCE):
        search = random_dictionary if method == CHANCE else partial(discovered_by, method)
        near = nearest(search(sample.states, count, seed).activations(sample.states), sample, own, words, seed)
        ways[method] = planted_among(near, words)
    return ways


def discovered_by(method: str, states: np.ndarray, count: int, seed: int) -> Dictionary:
    """Concepts by a way of search."""
    return discovered(states, method, count, seed)


def planted_among(near: Sequence[Sequence[NearConcept]], words: Sequence[Concept]) -> Numbers:
    """r: planted word -> the largest r of a concept beyond chance, 0 where there is none. both: whether two concepts go
    with the two reasons, each with one of its words.
    """
    r: dict[str, float] = {word.name: 0.0 for word in words}
    concepts: Mapping[str, set[int]] = {"first": set(), "second": set()}
    for index, of_concept in enumerate(near):
        for match in of_concept:
            r[match.name] = max(r[match.name], match.r)
            if match.r >= ENOUGH:
                concepts[match.name.split()[0]].add(index)
    first, second = concepts["first"], concepts["second"]
    return {"r": r, "both": bool(first and second and len(first | second) > 1)}
