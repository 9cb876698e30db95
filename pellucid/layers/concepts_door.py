"""The door `concepts`: what each layer still holds of a word besides its concept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import torch

from pellucid.base.checks import in_syntax, listed, mapping, quoted, whole
from pellucid.base.errors import BadInput
from pellucid.data.load import ConceptSource, load_concepts
from pellucid.drawing.terminal import progress_bar
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import ModelSource
from pellucid.layers.concept_analysis import ConceptAnalysis, WordInText, concept_question
from pellucid.results.explanation import Explanation
from pellucid.run.explaining import Request, explain_batch, method_calls
from pellucid.run.forward_pass import ForwardPass
from pellucid.run.hidden_target import HiddenState, ResolvedState
from pellucid.run.packing import scheduler_for
from pellucid.run.readout import Positions
from pellucid.run.state_scale import state_scale
from pellucid.text.example import Example, as_examples
from pellucid.text.units import text_units

METHOD = "retained_information"
MOST_RANDOM = 1_000_000
LAST_CHARACTER = 1_000_000_000
SAME_IN_EVERY_LAYER = (
    "Under the gaussian density the r of one concept, divided by that of another, is the same in every layer: it says "
    "how far the words' embeddings lie from each other, and only its size depends on the layer. Compare concepts "
    "within a layer by substitution."
)
ONE_WORD = "These are numbers of one word in one text."


def concepts(
    model: ModelSource,
    text: str | tuple[str, str] | Example,
    word: str,
    concepts: ConceptSource = "everyday",
    *,
    start: int | None = None,
    layer: int | Literal["all"] = "all",
    positions: Positions = "all",
    names: Sequence[str] = (),
    most: int = 100,
    reader: str | None = None,
    n_random: int = 200,
    seed: int = 0,
    settings: Mapping[str, Any] | None = None,
    progress: bool | None = None,
) -> ConceptAnalysis:
    """Ask each layer what it holds of a word beyond its concepts (Guan et al., equations 8 and 9).

    A_i compares log p(word | state) with random words, A_c the mean log p(word of the concept | state); r = A_i - A_c
    is what is left of the word when its concept is known. Both of our densities p(x' | state) are given: "gaussian",
    the noise that the word can bear under `retained_information`, and "substitution", how far the state moves, in
    sigma_S, when x' stands in the word's place. A word of several pieces is the mean of their embeddings, and its
    pieces move together.

    model: one that shows hidden states; or a folder, a hub name.
    text: a string, a pair, or an `Example`.
    word: as it stands in the text.
    concepts: "everyday" (a small set of ours), a file or folder, or lists: {"time": ["year", "day"]}. Files are word
        lists (.txt, .json), Microsoft's Concept Graph (.tsv), DBpedia's type triples (.nt, .ttl) and WordNet's folder.
    start: the character that the word starts at, where it stands in the text several times.
    layer: a number, or "all". positions: those of the state, as in `HiddenState`; "all" for the states of all pieces.
    names: the concepts to read; needed for the three large sources, else all. most: the most words of each.
    reader: how to read a file or folder; None: by its ending.
    n_random: how many random pieces of the vocabulary stand for all words. seed: of these and of the noise.
    settings: those of `retained_information`, name -> value.
    progress: draw a progress bar; None: when a terminal is watching.

    Returns a `ConceptAnalysis`. Raises `BadInput` for a word that is not in the text, or is there several times (with
    its places); `BadFile` for a bad line of a file, with its number; `ModelCannot` where there are no hidden states.

    >>> emotions = {"praise": ["good", "fine", "lovely"], "blame": ["dull", "bad"], "itself": ["good"]}
    >>> analysis = pellucid.concepts("my-classifier", "A good film.", "good", emotions, layer=1)
    >>> analysis.word, analysis.layers
    ('good', (1,))
    >>> praise, blame, itself = analysis.density("gaussian").remaining[0]
    >>> bool(praise > 0), bool(itself == 0)
    (True, True)
    """
    concept_list = load_concepts(concepts, names, most, reader)
    n_random = whole("n_random", n_random, 2, MOST_RANDOM)
    model = model_from(model)
    (example,) = as_examples([text])
    location = word_in_text(example, word, start)
    request = Request(
        model,
        method_calls([(METHOD, {} if settings is None else mapping("settings", settings))], model),
        HiddenState(layer, positions),
        seed,
    )
    explanation = _retained(request, example, progress)
    with torch.inference_mode(False):  # whatever mode the caller is in
        run = ForwardPass(model, model.encode([example]), scheduler_for(model), seed)
        targets = _targets(run, request)
        reference = request.calls[0].settings["reference"]
        assert isinstance(reference, str | tuple | list)
        scales = [state_scale(model, target, reference).deviations for target in targets]
        question = concept_question(run, targets, scales, _noise(explanation), location, concept_list, n_random)
        densities = question.densities()
    return ConceptAnalysis(
        explanation,
        location.segment,
        location.start,
        location.end,
        tuple(concept_list),
        tuple(target.layers[0] for target in targets),
        densities,
        n_random,
        (SAME_IN_EVERY_LAYER, ONE_WORD, *explanation.caveats),
    )


def word_in_text(example: Example, word: str, start: int | None = None) -> WordInText:
    """Where the word stands; raises `BadInput` where it stands nowhere, or several times and no start says which is
    meant.

    Words are those of `text/units.py`; part of a word is none.
    """
    if not isinstance(word, str) or not word.strip():
        raise BadInput(f"The word is {quoted(word)}; give a word of the text.")
    if start is not None:
        whole("start", start, 0, LAST_CHARACTER)
    every = [
        WordInText(index, *ends) for index, text in enumerate(example.segments) for ends in text_units(text, "word")
    ]
    same = [
        occurrence
        for occurrence in every
        if example.segments[occurrence.segment][occurrence.start : occurrence.end] == word.strip()
    ]
    match = [occurrence for occurrence in same if start is None or occurrence.start == start]
    if len(match) == 1:
        return match[0]
    if not same:
        words = [example.segments[occurrence.segment][occurrence.start : occurrence.end] for occurrence in every]
        raise BadInput(f"{quoted(word)} is no word of the text; its words are {listed(map(quoted, words))}.")
    places = listed(
        str(occurrence.start) if len(example.segments) == 1 else _in_words(occurrence) for occurrence in same
    )
    if match and start is not None:
        raise BadInput(f"{quoted(word)} stands at character {start} of both texts; give one of the texts alone.")
    if start is None:
        way = in_syntax(f"give start={same[0].start} or another", f"add --start {same[0].start} or another")
        raise BadInput(f"{quoted(word)} stands in the text {len(same)} times, at characters {places}; {way}.")
    raise BadInput(f"{quoted(word)} does not start at character {start} of the text, but at {places}.")


def _in_words(word: WordInText) -> str:
    return f"{word.start} of text {word.segment + 1}"


def _retained(request: Request, example: Example, progress: bool | None) -> Explanation:
    """The retained information of the text; raises `BadInput` where the model reads it in windows."""
    batch = request.model.encode([example])
    if batch.rows[0].windows:
        raise BadInput(
            "The text is longer than the model reads at once, so it has no state of its own; give the part with the "
            "word."
        )
    with progress_bar(progress) as show_progress:
        explanations = explain_batch(request, batch, scheduler_for(request.model), show_progress)
    return explanations[request.calls[0].title][0]


def _targets(run: ForwardPass, request: Request) -> list[ResolvedState]:
    """The explained states, one a layer."""
    assert isinstance(request.target, HiddenState)
    state = request.target.in_model(run.model)
    return state.resolve(run.answers(state.readout_in(run.model)), run.model).one_a_layer()


def _noise(explanation: Explanation) -> torch.Tensor:
    """[layer unit], in float64: sigma of each piece, from its retained information."""
    scores = torch.tensor(explanation.scores, dtype=torch.float64)
    return explanation.diagnostics["noise_scale"] * (-scores.reshape(-1, scores.shape[-1])).exp()
