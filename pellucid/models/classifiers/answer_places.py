"""Where in a text a network that answers for each piece answers: its entities, its answer to a question, its masks."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import lcm
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pellucid.base.checks import listed, quoted
from pellucid.base.errors import BadInput, InputReading, ModelCannot, notify
from pellucid.models.classifiers.buffer_copies import undisturbed
from pellucid.models.classifiers.classifier import Classifier
from pellucid.models.classifiers.piece_answers import (
    BEGIN,
    END,
    EXCHANGED,
    INSIDE,
    OWN,
    POSSIBLE,
    START,
    WEIGHT,
    pieces_within,
    store_own_answer,
    tag_logits,
)
from pellucid.run.batch import Batch
from pellucid.run.model import answers_for_places
from pellucid.text.example import Example, text_digest
from pellucid.text.passages import PLACE, AnswerPlace, place_of
from pellucid.text.units import Units, coarsen

LONGEST_ANSWER = 15  # pieces, as the library's pipeline for questions has it
SAME = 1e-3  # how far two ways to compute an entity's score may be apart; in sixteen bits 3e-2
COARSE = 3e-2
BY_WORD = ("first", "average", "max")


def with_places(model: Any, examples: Iterable[Example], answer: Sequence[str | None] = ()) -> tuple[Example, ...]:
    """The examples; of a model that answers for pieces, one for each place of each text that it answers about.

    answer: for each example the part of its text that is asked about; None, or nothing: what the model answers. A
    notice names the texts about which it says nothing; raises `BadInput` where these are all.
    """
    examples = tuple(examples)
    if not answers_for_places(model):
        return examples
    with_place: list[Example] = []
    silent: list[str] = []
    for example, part in zip(examples, answer or [None] * len(examples), strict=True):
        new = [example] if place_of(example) is not None else [*_with_each_place(model, example, part)]
        with_place += new
        silent += [] if new else [example.id]
    if not silent:
        return tuple(with_place)
    sentence = f"{model.name} finds no entity in {len(silent):,} of {len(examples):,} texts ({listed(silent[:5])})"
    if not with_place:
        raise BadInput(f"{sentence}; name the word whose tag is to be explained: answer='…'.")
    notify(f"{sentence}, which have no explanation; answer= names a word whose tag is explained.", InputReading)
    return tuple(with_place)


def _with_each_place(model: Classifier, example: Example, part: str | None) -> Iterator[Example]:
    """The example once for each place, under names of their own where there are several."""
    assert model.piece_answers is not None
    find = {"tag": _entities, "answer": _answers, "word": _masks}[model.piece_answers.kind]
    places = find(model, model.encode([example]), part)
    for count, place in enumerate(places, 1):
        name = example.id if len(places) == 1 else f"{example.id}/{count}"
        yield replace(example, id=name, meta={**example.meta, PLACE: place.record()})


def _own_answer(model: Classifier, example: Example) -> tuple[Tensor, ...]:
    """What the user's own call with the single text gives: logits [piece label], or those of starts and of ends."""
    assert model.piece_answers is not None
    columns, answers = model.facts.text_columns(example.segments), model.piece_answers
    with torch.no_grad():
        parts = undisturbed(
            model.network, model.name, lambda: answers.parts(model.network(**columns), model.name), lambda parts: parts
        )
    store_own_answer(model.network, example.segments, parts)
    return tuple(part[0].float().cpu() for part in parts)


def _part_of(example: Example, segment: int, part: str) -> tuple[int, int]:
    """The characters of a part of a segment; raises `BadInput` where it is not there, or more than once."""
    count = example.segments[segment].count(part)
    if count != 1 or not part.strip():
        where = f"{count:,} times in" if count and part.strip() else "not in"
        raise BadInput(
            f"answer={quoted(part)} stands {where} the text of example {quoted(example.id)}; give a part that stands "
            f"there once, with more of the words around it."
        )
    start = example.segments[segment].index(part)
    return start, start + len(part)


def _place(example: Example, segment: int, start: int, end: int, codes: Iterable[tuple[int, int]]) -> AnswerPlace:
    text = example.segments[segment][start:end]
    return AnswerPlace(segment, start, end, text, tuple(codes), text_digest(example))


# Masked words.


def _masks(model: Classifier, batch: Batch, part: str | None) -> list[AnswerPlace]:
    """Each mask token of the text."""
    (example,), (row,) = batch.examples, batch.rows
    if part is not None:
        raise BadInput("The word behind a mask is a class; name it by target=, and leave answer= away.")
    token = str(getattr(model.tokenizer, "mask_token", "[MASK]"))
    pieces = [piece for piece, id_ in enumerate(row.ids) if id_ == model.tokenizer.mask_token_id]
    starts = [
        (segment, start)
        for segment, text in enumerate(example.segments)
        for start in range(len(text))
        if text.startswith(token, start)
    ]
    if not pieces or len(starts) != len(pieces):
        raise BadInput(
            f"Example {quoted(example.id)}: the text {quoted(example.text)} has no {token}; {model.name} guesses the "
            f"word that stands behind it, so write {token} for that word."
        )
    pairs = zip(pieces, starts, strict=True)
    return [_place(example, segment, start, start + len(token), [(piece, OWN)]) for piece, (segment, start) in pairs]


# Answers to questions.


def _answers(model: Classifier, batch: Batch, part: str | None) -> list[AnswerPlace]:
    """The answer in the second text, of a question and a passage: the likeliest one, or the part that is named.

    Some models say by the piece at the beginning that there is no answer; it counts among the possible ones.
    """
    (example,), (row,), (units,) = batch.examples, batch.rows, batch.units
    if len(example.segments) != 2:
        raise BadInput(
            f"Example {quoted(example.id)} is one text, and {model.name} answers questions; give pairs: (question, "
            f"passage)."
        )
    inside = [piece for piece in units.content if units.segment[piece] == 1]
    first, last = _named_answer(example, units, part) if part is not None else _likeliest_answer(model, example, inside)
    token = getattr(model.tokenizer, "cls_token_id", None)
    no_answer = [piece for piece, id_ in enumerate(row.ids) if id_ == token]
    codes = dict.fromkeys([*no_answer, *inside], POSSIBLE)
    codes[first] |= START
    codes[last] |= END
    words, index = coarsen(units, "word", example.segments)
    return [_place(example, 1, words.start[index[first]], words.end[index[last]], sorted(codes.items()))]


def _named_answer(example: Example, units: Units, part: str) -> tuple[int, int]:
    pieces = pieces_within(units, 1, *_part_of(example, 1, part))
    return pieces[0], pieces[-1]


def _likeliest_answer(model: Classifier, example: Example, inside: Sequence[int]) -> tuple[int, int]:
    """The first and last piece of the likeliest answer of at most so many pieces."""
    start, end = (part[list(inside)].double().log_softmax(-1) for part in _own_answer(model, example))
    allowed = torch.ones(len(inside), len(inside), dtype=torch.bool).triu().tril(LONGEST_ANSWER - 1)
    best = int((start[:, None] + end).masked_fill(~allowed, -torch.inf).argmax())
    return inside[best // len(inside)], inside[best % len(inside)]


# Entities, as the library's pipelines join pieces.


@dataclass(frozen=True)
class _TaggedWord:
    """Pieces that have one tag; start, end: their characters."""

    pieces: tuple[int, ...]
    tag: str
    start: int
    end: int

    @property
    def entity(self) -> str:
        """The tag without B- or I-."""
        return self.tag[2:] if self.tag[:2] in (BEGIN, INSIDE) else self.tag

    @property
    def begins(self) -> bool:
        """Whether its tag begins an entity."""
        return self.tag[:2] == BEGIN


def _entities(model: Classifier, batch: Batch, part: str | None) -> list[AnswerPlace]:
    """Each entity of the text, its neighbouring pieces joined as by the user's pipeline, or the part that is named."""
    (example,), (units,) = batch.examples, batch.units
    if len(example.segments) != 1:
        raise BadInput(f"Example {quoted(example.id)} is a pair, and {model.name} tags single texts; give one text.")
    assert model.piece_answers is not None
    (logits,) = _own_answer(model, example)
    pipeline = model.piece_answers.pipeline
    settings = {"aggregation_strategy": "simple"} if pipeline is None else pipeline._postprocess_params
    aggregation = settings.get("aggregation_strategy", "none")
    strategy = str(getattr(aggregation, "value", aggregation)).lower()
    if part is not None:
        start, end = _part_of(example, 0, part)
        inside = pieces_within(units, 0, start, end)
        named = [_word(model, logits, [piece], (start, end), strategy) for piece in inside]
        return [_place(example, 0, start, end, _codes(named))]
    ignored = settings.get("ignore_labels") or ["O"]
    words = _words(model, example, logits, strategy, pipeline, aggregation)
    groups = [group for group in _joined(words, strategy) if not {group[0].tag, group[0].entity} & {*ignored}]
    places = [_place(example, 0, group[0].start, group[-1].end, _codes(group)) for group in groups]
    if pipeline is not None:
        _check_entities(model, example, logits, places, strategy)
    return places


def _words(
    model: Classifier, example: Example, logits: Tensor, strategy: str, pipeline: Any, aggregation: Any
) -> list[_TaggedWord]:
    """What has a tag of its own: each piece, or each word by the tag that the strategy gives it."""
    tokenizer: Any = model.facts.own_tokenizer
    encoded = tokenizer(example.segments[0], return_offsets_mapping=True, return_special_tokens_mask=True)
    offsets, special = encoded["offset_mapping"], encoded["special_tokens_mask"]
    groups = [[piece] for piece, is_special in enumerate(special) if not is_special]
    if strategy in BY_WORD:
        ids, chances = np.array(encoded["input_ids"]), logits.softmax(-1).numpy()
        pieces = pipeline.gather_pre_entities(
            example.segments[0], ids, chances, offsets, np.array(special), aggregation
        )
        groups = []
        for piece in pieces:
            if groups and piece["is_subword"]:
                groups[-1].append(piece["index"])
            else:
                groups.append([piece["index"]])
    return [_word(model, logits, group, (offsets[group[0]][0], offsets[group[-1]][1]), strategy) for group in groups]


def _word(
    model: Classifier, logits: Tensor, pieces: Sequence[int], characters: tuple[int, int], strategy: str
) -> _TaggedWord:
    """A word with its tag, and those of its pieces that say it."""
    assert model.piece_answers is not None
    chances = logits[list(pieces)].softmax(-1)
    if strategy == "max":
        pieces = [pieces[int(chances.amax(-1).argmax())]]
    if strategy == "first":
        pieces = pieces[:1]
    tag = model.piece_answers.labels[int(logits[list(pieces)].softmax(-1).mean(0).argmax())]
    return _TaggedWord(tuple(pieces), tag, *characters)


def _joined(words: Sequence[_TaggedWord], strategy: str) -> list[list[_TaggedWord]]:
    """Neighbours of one entity together, where the pipeline joins any; B- begins a new one."""
    groups: list[list[_TaggedWord]] = []
    for word in words:
        joins = strategy != "none" and groups and groups[-1][-1].entity == word.entity and not word.begins
        if joins:
            groups[-1].append(word)
        else:
            groups.append([word])
    return groups


def _codes(words: Sequence[_TaggedWord]) -> list[tuple[int, int]]:
    """What is read at the pieces of these words: each word counts equally, whatever the number of its pieces."""
    whole = lcm(*(len(word.pieces) for word in words))
    scheme = [OWN if word.begins == words[0].begins else EXCHANGED for word in words]
    return [
        (piece, code + WEIGHT * (whole // len(word.pieces)))
        for word, code in zip(words, scheme, strict=True)
        for piece in word.pieces
    ]


def _check_entities(
    model: Classifier, example: Example, logits: Tensor, places: Sequence[AnswerPlace], strategy: str
) -> None:
    """Raise `ModelCannot` where the user's pipeline gives other entities or scores than these."""
    assert model.piece_answers is not None
    pipeline = model.piece_answers.pipeline
    entities = undisturbed(
        model.network,
        model.name,
        lambda: pipeline(example.segments[0]),
        lambda each: [torch.tensor([float(entity["score"]) for entity in each])],
    )
    short = any(weights.dtype in (torch.bfloat16, torch.float16) for weights in model.network.parameters())
    theirs = [(int(entity["start"]), int(entity["end"]), float(entity["score"])) for entity in entities]
    ours = [(place.start, place.end, _score(model, logits, place)) for place in places]
    is_same = len(ours) == len(theirs) and np.allclose(ours, theirs, rtol=0, atol=COARSE if short else SAME)
    if not is_same:
        raise ModelCannot(
            f"The pipeline finds {theirs} in {quoted(example.text)}, and its network by "
            f"aggregation_strategy={quoted(strategy)} {ours}: it has steps of its own that cannot be followed; give "
            f"its model and tokenizer."
        )


def _score(model: Classifier, logits: Tensor, place: AnswerPlace) -> float:
    """The probability of the likeliest tag at these pieces."""
    assert model.piece_answers is not None
    read = torch.zeros(1, len(logits), dtype=torch.long)
    for piece, code in place.pieces:
        read[0, piece] = code
    exchanged = torch.tensor(model.piece_answers.exchanged)
    return float(tag_logits(logits[None], read, torch.ones_like(read), exchanged).softmax(-1).max())
