"""The door `find_concepts`: what has a model learnt to tell apart, and does its answer depend on it?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from pellucid.base.checks import listed, one_of, whole
from pellucid.base.errors import BadInput, ModelCannot
from pellucid.base.files import possible_path
from pellucid.base.json_text import json_digest
from pellucid.base.kinds import discoveries
from pellucid.base.memory import give_back
from pellucid.base.output_folder import PARTS, OutputFolder, prepare_folder, question_folder
from pellucid.base.packages import __version__
from pellucid.base.processes import Progress
from pellucid.data.load import ConceptSource, load_concepts
from pellucid.discovery.concept import LearntConcept
from pellucid.discovery.decoding import decoded_words, head_in_words
from pellucid.discovery.dictionaries import Dictionary, discovered, random_dictionary, random_directions
from pellucid.discovery.effects import concept_pass, fitting_texts
from pellucid.discovery.measures import DRAWS, STAGE, Effects, effects_on, variance_explained
from pellucid.discovery.naming import nearest, standing_out, word_pairs
from pellucid.discovery.record import RECORD, TENSORS, LearntConcepts
from pellucid.discovery.states import (
    LEVELS,
    MOST_STATES,
    Level,
    StateQuestion,
    StateSample,
    sampled_states,
    state_question,
)
from pellucid.discovery.text_record import concept_texts
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import Data, ModelSource
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import example_record
from pellucid.run.blank import HIGHEST_SEED
from pellucid.run.diagnostics import route_record
from pellucid.text.example import data_of, distinct_texts, seen_caveats
from pellucid.text.label_map import LabelMap

MOST_CONCEPTS = 1000
TEXTS_SHOWN = 3
NOT_SETTLED = "The search for concepts ended before it had settled; another seed may give others."
SAMPLE = "These numbers are of texts that the concepts were found in; pellucid compare --learnt judges them on others."


def find_concepts(
    model: ModelSource,
    data: Data,
    layer: int,
    *,
    n: int = 20,
    method: str = "nmf",
    level: Level = "word",
    most_states: int = MOST_STATES,
    n_texts: int = 50,
    beside: ConceptSource | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    progress: bool | Progress | None = None,
) -> LearntConcepts:
    """Find the concepts that a model has made itself: directions of a layer's states, with names and what they do.

    model: one that shows hidden states; or a folder, a hub name. One that was loaded with a `language_head` also tells
        which words become likelier along each concept.
    data: texts, or the name of a data set, a file or a folder; their train part where there is one.
    layer: whose states, from 0, the first block's input, to the number of blocks.
    n: how many concepts, 2 or more, below the number of states.
    method: how they are found: "nmf", "semi_nmf", "ica", "kmeans", "svd", "sae", "sae_batch_top_k" or "sae_jump_relu".
    level: what a state is of: a "word", a "piece" or a whole "text", whose state is the mean over its pieces.
    most_states: how many states, drawn at random from all texts, they are found in; fewer where states are wide.
    n_texts: in how many texts, drawn at random, concepts are taken out.
    beside: your own concepts, lists of words as in `concepts`, such as "everyday" or {"time": ["year", "day"]}; each
        learnt concept then shows which of them it is near to.
    seed: a whole number; of the search, of draws and of shuffles.
    out: a folder that keeps the states part by part and then the concepts; interrupted work goes on when it is called
        again.
    text, label, label_map, progress: as in `explain`.

    Returns `LearntConcepts`, the largest first. Raises `ModelCannot` for a model without hidden states, `BadSetting`
    for a layer that is not there, `BadInput` for fewer states than concepts and for states that are all the same,
    `UnknownName` for another method, `BadFile` for a folder with other concepts.

    >>> reviews = ["A good film.", "A dull film.", "Fine acting.", "Bad, dull acting."] * 10
    >>> concepts = pellucid.find_concepts("my-classifier", reviews, 1, n=3, method="svd")
    >>> [concept.id for concept in concepts.concepts]
    [1, 2, 3]
    """
    whole("seed", seed, 0, HIGHEST_SEED)
    whole("n", n, 2, MOST_CONCEPTS)
    whole("n_texts", n_texts, 2, 10_000)
    whole("most_states", most_states, 10, 10_000_000)
    one_of("level", level, LEVELS)
    discoveries.get(method)
    lists = () if beside is None else tuple(load_concepts(beside))
    model = model_from(model)
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map}
    examples = distinct_texts(examples_for(model, data, names_data=True, split="train", strange="allowed", **columns))
    if not examples:
        raise BadInput("There is no text to find concepts in; give some.")
    question = state_question(model, examples, layer, level, most_states, seed)
    about = {"method": method, "n": n, "most_states": most_states, "n_texts": n_texts, "seed": seed, "beside": lists}
    path = None if out is None else possible_path(out)
    with progress_bar(progress) as show_progress:
        return _in_folder(question, about, path, show_progress)


def _in_folder(
    question: StateQuestion, about: Mapping[str, object], path: Path | None, progress: Progress
) -> LearntConcepts:
    """The concepts; with a path, the states are kept there part by part and the concepts at the end."""
    if path is None:
        return _learnt(question, about, sampled_states(question, None, progress), progress)
    record = _question(question, about)
    names = [f"{PARTS}/{index:04d}.safetensors" for index in range(question.n_parts)]
    folder: OutputFolder = question_folder(path, "concepts", record, [*names, RECORD, TENSORS])
    state = folder.begin()
    prepare_folder(path, record, "search for concepts")
    sample = sampled_states(question, lambda index: path / names[index], progress)
    if state.is_whole:
        folder.end(state)
        return LearntConcepts.read(path)
    learnt = _learnt(question, about, sample, progress)
    folder.end(state, folder.rewritten([RECORD, TENSORS], partial(learnt.save, path)))
    return learnt


def _question(question: StateQuestion, about: Mapping[str, Any]) -> dict[str, object]:
    records = [example_record(example) for example in question.examples]
    return {
        "concepts of": question.model.hash,
        **route_record(question.model),
        "version": __version__,
        "texts": f"{len(records)} with digest {json_digest(records)}",
        "layer": question.layer,
        "level": question.level,
        **about,
        "beside": {concept.name: list(concept.words) for concept in about["beside"]},
        "language head": head_in_words(question.model),
    }


def _learnt(
    question: StateQuestion, about: Mapping[str, Any], sample: StateSample, progress: Progress
) -> LearntConcepts:
    """Concepts of the states, named, measured and shown in texts."""
    model, seed = question.model, int(about["seed"])
    progress("finding concepts", 0, 1)
    dictionary = discovered(sample.states, about["method"], about["n"], seed, question.level)
    progress("finding concepts", 1, 1)
    give_back()
    activations = dictionary.activations(sample.states)
    chance = random_dictionary(sample.states, about["n"], seed)
    directions = random_directions(sample.states, about["n"] * DRAWS, seed + 1)
    texts = [question.examples[i] for i in fitting_texts(model, question.examples, about["n_texts"], seed)]
    if len(texts) < 2:
        raise ModelCannot(f"Fewer than two texts fit into what {model.name} reads at once; give shorter ones.")
    pair = (dictionary, chance)
    report = partial(progress, STAGE)
    effects = effects_on(model, texts, question.layer, question.level, pair, directions, report)
    names = _names(question, about, dictionary, activations, sample)
    shown = _shown_texts(question, dictionary, activations, sample)
    give_back()
    concepts = _concepts(dictionary, activations, names, effects, shown)
    return LearntConcepts(
        concepts,
        dictionary,
        directions,
        model.name,
        question.model.hash,
        tuple(model.labels),
        question.layer,
        question.level,
        about["method"],
        seed,
        _facts(question, sample, about),
        variance_explained(sample.states, dictionary, chance),
        effects.answers,
        (*([] if dictionary.settled else [NOT_SETTLED]), SAMPLE, *seen_caveats(model, question.examples)),
    )


def _facts(question: StateQuestion, sample: StateSample, about: Mapping[str, Any]) -> dict[str, object]:
    return {
        "n": about["n"],
        "texts": len(question.examples),
        "data": data_of([example.id for example in question.examples]),
        "states": len(sample.states),
        "states of all texts": sample.n_all,
        "texts that concepts are taken out of": about["n_texts"],
        **({"beside": listed(concept.name for concept in about["beside"])} if about["beside"] else {}),
        **({"language head": head} if (head := head_in_words(question.model)) else {}),
    }


def _names(
    question: StateQuestion,
    about: Mapping[str, Any],
    dictionary: Dictionary,
    activations: np.ndarray,
    sample: StateSample,
) -> list[dict[str, Any]]:
    """For each concept its words and phrases, and what it is near to or decodes to, as `LearntConcept` has them."""
    words, phrases = (word_pairs(sample, question.examples, length) for length in (1, 2))
    stands, run_stands = (standing_out(activations, sample, each, about["seed"]) for each in (words, phrases))
    near = nearest(activations, sample, words, about["beside"], about["seed"])
    decoded = decoded_words(question.model, question.layer, sample.states, dictionary, activations, about["seed"])
    return [
        {
            "words": stands[k].words,
            "phrases": run_stands[k].words,
            "limit": stands[k].limit,
            "near": near[k],
            "decoded": decoded[k],
        }
        for k in range(len(dictionary.atoms))
    ]


def _concepts(
    dictionary: Dictionary,
    activations: np.ndarray,
    names: Sequence[Mapping[str, Any]],
    effects: Effects,
    shown: Sequence[Sequence[Explanation]],
) -> tuple[LearntConcept, ...]:
    sizes = (activations.astype(float) ** 2).mean(0) * (dictionary.atoms.astype(float) ** 2).sum(1)
    active = (np.abs(activations) > 0.05 * np.abs(activations).max(0)).mean(0)
    return tuple(
        LearntConcept(
            id=k + 1,
            size=float(sizes[k] / max(sizes.sum(), np.finfo(float).tiny)),
            active=float(active[k]),
            classes=effects.class_effects(k),
            removal=effects.removal(k),
            texts=tuple(shown[k]),
            **names[k],
        )
        for k in range(len(dictionary.atoms))
    )


def _shown_texts(
    question: StateQuestion, dictionary: Dictionary, activations: np.ndarray, sample: StateSample
) -> list[list[Explanation]]:
    """For each concept the texts of its highest activations, word by word; texts in windows are left out."""
    shown: list[list[Explanation]] = []
    for k in range(activations.shape[1]):
        texts = dict.fromkeys(sample.places[np.argsort(-activations[:, k], kind="stable"), 0][:200].tolist())
        candidates = [question.examples[index] for index in list(texts)[: 4 * TEXTS_SHOWN]]
        rows = question.model.encode(candidates).rows
        fitting = [example for example, row in zip(candidates, rows, strict=True) if not row.windows][:TEXTS_SHOWN]
        if not fitting:
            shown.append([])
            continue
        run = concept_pass(question.model, fitting, question.layer, question.level, dictionary)
        shown.append(concept_texts(run, k, f"concept {k + 1}"))
    return shown
