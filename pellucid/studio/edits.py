"""What may stand in the place of a word, and what the model answers then: words of a dictionary and of the model's own
vocabulary, and attacks that edit as few words as they can.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from pellucid.attacks.attack_case import AttackCase, Attempt, Edit, Place, edited_segments
from pellucid.attacks.cases import masked_fillers
from pellucid.attacks.dictionaries import Dictionaries, NearWords
from pellucid.attacks.door import attack
from pellucid.attacks.goals import Value
from pellucid.base.catalogue import Choice
from pellucid.base.checks import shortened
from pellucid.base.errors import BadFile, BadInput, ModelCannot
from pellucid.base.kinds import attack_candidates
from pellucid.base.processes import Progress
from pellucid.models.word_neighbours import WordNeighbours, word_neighbours
from pellucid.results.explanation import Prediction
from pellucid.run.model import WRITING, Model, answers_for_places
from pellucid.run.predicting import predictions
from pellucid.studio.explained import explained
from pellucid.studio.record import TextRequest, checked
from pellucid.studio.visit import Visit
from pellucid.text.example import Example
from pellucid.text.passages import Turn, turns_of
from pellucid.text.units import coarsen, text_units
from pellucid.text.wordnet import shared_wordnet, wordnet_folder

Words = tuple[Place | None, ...]


def words_of(visit: Visit, question: TextRequest) -> Words:
    """The words of a text as its model reads them, numbered as `explanation.view("word")` does, without special tokens.

    None stands for a word that has no characters of the reader's text.
    """
    model = visit.studio.model(question.model)
    key, example = ("words", question.segments, question.is_chat), question.example
    if WRITING in model.capabilities:  # it reads what it writes, too, and of a chat what its template makes of it
        example = explained(visit, question).explanations[0].example
    words: Words = visit.answer(question.model, key, lambda progress: _words(model, question.segments, example))
    return words


def word_at(words: Words, index: int) -> Place:
    """The word of an index; raises `BadInput` where the text has none."""
    place = words[index] if index < len(words) else None
    if place is None:
        raise BadInput(
            f"The text has {len(words):,} words, and none of them is word {index + 1:,}; choose another one."
        )
    return place


def _words(model: Model, segments: Sequence[str], example: Example) -> Words:
    words, _ = coarsen(model.encode([example]).units[0], "word", example.segments)
    turns = turns_of(example)
    return tuple(
        _place(segments, turns, words.segment[word], words.start[word], words.end[word]) for word in words.content
    )


def _place(segments: Sequence[str], turns: Sequence[Turn], segment: int, start: int, end: int) -> Place | None:
    """A word's characters in the reader's text; of a chat, the message is a part of the template's prompt."""
    if segment >= len(segments):  # the model wrote it
        return None
    if turns and segment == 0:
        (turn,) = turns  # the reader's message
        stripped = segments[0].strip() if len(segments[0]) > turn.end - turn.start else segments[0]
        start, end = (border - turn.start + segments[0].index(stripped) for border in (start, end))
    # The model may not read all characters of a word, such as an accent that follows its letter.
    text = segments[segment]
    touched = [word for word in text_units(text, "word") if word[0] < end and word[1] > start]
    if not touched:
        return None
    start, end = touched[0][0], touched[-1][1]
    return Place(segment, start, end, text[start:end])


# Edited texts, each a question of its own that remembers which text it is an edit of.


def with_word(question: TextRequest, place: Place, replacement: str) -> tuple[str, ...]:
    """The texts with other characters in the place of a word; everything else stays."""
    return edited_segments(question.segments, [Edit(place.segment, place.start, place.end, place.text, replacement)])


def edited_key(visit: Visit, key: str, segments: Sequence[str]) -> str:
    """The key of an edited text; raises `BadInput` where nothing was changed, or nothing is left."""
    question = visit.studio.requests[key]
    if tuple(segments) == question.segments:
        raise BadInput("The text is as it was; change a word of it.")
    return visit.studio.requests.add(
        checked(replace(question, segments=tuple(segments), before=key, label=None, id=""))
    )


MOST_EDITS = 20  # of one text that are listed


def edits_before(visit: Visit, key: str) -> list[str]:
    """The keys of the texts whose edits led to a text, the first one first, and its own last."""
    keys = [key]
    while len(keys) < MOST_EDITS and (before := visit.studio.requests[keys[0]].before):
        try:
            visit.studio.requests[before]
        except BadInput:  # forgotten
            break
        keys.insert(0, before)
    return keys


# Proposals for a word, with the model's answers, in one batch.

MOST = 12  # proposals of one source
LEAST_COSINE = 0.3
SOURCES = {
    "synonyms": "Synonyms, by the dictionary",
    "masked_words": "What the model’s language head would write there; opposites fit as well as synonyms",
    "neighbours": "Near words of the model’s own vocabulary; opposites are near, too",
}


@dataclass(frozen=True)
class Proposal:
    """What may stand in a word's place, where it comes from, and the model's answer to the text with it."""

    text: str
    source: str
    after: Prediction


@dataclass(frozen=True)
class Proposals:
    """before: the model's answer to the text as it is. out: without the word; None where no word would be left.
    proposals: those of a source beside each other, what changes the answer most first. notes: why a source has none.
    """

    before: Prediction
    out: Prediction | None
    proposals: tuple[Proposal, ...]
    notes: tuple[str, ...] = ()


def cannot_propose(model: Model) -> str:
    """Why there are no proposals for a text of this model; empty where there are."""
    if WRITING in model.capabilities:
        return f"{model.name} writes texts, so proposals have no answers beside them; edit the text, and compare."
    if answers_for_places(model):
        return f"{model.name} answers for places in a text, so proposals have no answers beside them; edit the text."
    return ""


def proposals_for(visit: Visit, question: TextRequest, index: int, place: Place) -> Proposals:
    """What may stand in the place of a word, each with the model's answer."""
    model = visit.studio.model(question.model)
    key = ("proposals", question.segments, index)
    proposals: Proposals = visit.answer(
        question.model, key, lambda progress: _proposals(model, question, place, progress)
    )
    return proposals


def _proposals(model: Model, question: TextRequest, place: Place, progress: Progress) -> Proposals:
    (before,) = predictions(model, [question.example])
    offers, notes = _offers(model, question.example, place, before)
    texts = [("", ""), *((source, text) for source, of_source in offers.items() for text in of_source)]
    edited = [with_word(question, place, text) for _, text in texts]
    usable = [index for index, segments in enumerate(edited) if all(map(str.strip, segments))]
    answers = predictions(model, [Example(edited[index]) for index in usable], progress)
    after = dict(zip(usable, answers, strict=True))
    proposals = [Proposal(texts[index][1], texts[index][0], after[index]) for index in usable if index]
    order = list(offers)
    proposals.sort(key=lambda proposal: (order.index(proposal.source), -distance(before, proposal.after)))
    return Proposals(before, after.get(0), tuple(proposals), tuple(notes))


def distance(before: Prediction, after: Prediction) -> float:
    """How far an answer is from another one: changed classes first, then the former class's fall, or the value's."""
    if not before.probabilities:
        return abs(after.logits[0] - before.logits[0])
    fall = before.probability - after.probabilities[after.labels.index(before.label)]
    return fall + float(before.names != after.names)


def _offers(model: Model, example: Example, place: Place, before: Prediction) -> tuple[dict[str, list[str]], list[str]]:
    """(Source -> its words, each once; why a source has none)."""
    dictionaries, notes = _dictionaries(model), list[str]()  # type: ignore[arg-type]  # models are hashed by identity
    case = AttackCase(
        example,
        (place,),
        before,
        Value(before, np.array(before.logits), distance=1.0),  # candidates ask for no goal
        dictionaries,
        fillers=_fillers(model, example, place, dictionaries.words),
    )
    offers: dict[str, list[str]] = {}
    for call in attack_candidates.calls(_sources(case, notes)):
        known = {place.text, *(text for texts in offers.values() for text in texts)}
        offers[call.entry.name] = [text for text in dict.fromkeys(call(case, 0)) if text not in known][:MOST]
    if isinstance(dictionaries.words, WordNeighbours):
        dictionaries.words.release()
    return offers, notes


def _sources(case: AttackCase, notes: list[str]) -> Iterator[Choice]:
    """The candidates that this model and this installation have; notes: gets the reason where there is no
    dictionary.
    """
    try:
        shared_wordnet(case.dictionaries.wordnet_folder)
        yield "synonyms"
    except BadFile as error:
        notes.append(str(error))
    if case.fillers is not None:
        yield "masked_words", {"most": MOST}
    elif case.dictionaries.words is not None:
        yield "neighbours", {"most": MOST, "least": LEAST_COSINE}


def _fillers(model: Model, example: Example, place: Place, words: NearWords | None) -> list[list[str]] | None:
    if "language_head" not in model.capabilities or not isinstance(words, WordNeighbours):
        return None
    try:
        return masked_fillers(model, example, (place,), words)
    except ModelCannot:
        return None


@lru_cache(maxsize=4)
def _dictionaries(model: Model) -> Dictionaries:
    """Those of one model; its desk's thread alone asks them."""
    return Dictionaries(words=word_neighbours(model))


# Attacks as proposals: the fewest edits that they find by which the answer changes.

MOST_QUERIES = 300
ATTACKS = {  # name -> what it does, and how many edited texts it asks of a word, about
    "screened": ("Synonyms that the gradient singles out", 3),
    "word_saliency": ("Synonyms of the words that count most", 12),
    "deepwordbug": ("Misspelt words", 5),
}


def offered_attacks(model: Model) -> list[str]:
    """The names of cheap attacks that work with this model and this installation."""
    if cannot_propose(model) or model.problem == "regression":
        return []
    by_dictionary = "screened" if "gradient" in model.capabilities else "word_saliency"
    has_dictionary = (wordnet_folder() / "data.noun").is_file()
    return [by_dictionary, "deepwordbug"] if has_dictionary else ["deepwordbug"]


def queries_of(name: str, n_words: int) -> int:
    """About how many edited texts an attack asks at most."""
    return min(MOST_QUERIES, n_words * ATTACKS[name][1])


def attempt_of(visit: Visit, question: TextRequest, name: str) -> Attempt:
    """What an attack makes of a text; raises `BadInput` for one that is not offered."""
    model = visit.studio.model(question.model)
    if name not in offered_attacks(model):
        raise BadInput(f"This page offers no attack called {shortened(name)!r}; choose one of its list.")
    attempt: Attempt = visit.answer(
        question.model,
        ("attack", question.segments, name),
        # Without its label: a text that is wrong already would not be attacked, and its answer is what is asked about.
        lambda progress: _attempt(model, replace(question.example, label=None), name, progress),
    )
    return attempt


def _attempt(model: Model, example: Example, name: str, progress: Progress) -> Attempt:
    goal: Choice = "flip"
    if model.problem == "multi_label":
        (before,) = predictions(model, [example])
        goal = ("label", {"label": before.label})
    return attack(model, example, name, goal=goal, max_queries=MOST_QUERIES, progress=progress)[0]
