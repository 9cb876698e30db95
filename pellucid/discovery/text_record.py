"""The concepts of one text: where each is, and what it did to the answer, by gradients and by taking it out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

from pellucid.base.errors import BadInput
from pellucid.base.json_text import nan_as_none
from pellucid.base.kinds import renderers
from pellucid.discovery.effects import ConceptPass, concept_pass
from pellucid.discovery.measures import DRAWS
from pellucid.discovery.record import LearntConcepts, check_same_model
from pellucid.discovery.target import STATE
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import model_from
from pellucid.explaining.inputs.readings import ModelSource
from pellucid.results.explanation import Explained, Explanation
from pellucid.results.storage import as_records
from pellucid.run.explaining import predict
from pellucid.text.example import Example
from pellucid.text.units import coarsen

LARGEST_GAP = 0.05


@dataclass(frozen=True)
class TextConcept:
    """What one concept does in one text.

    id, name: of the concept. activation: the sum over the words. by_gradient: activation times gradient of the answered
    class's logit. by_path: its share of the rise from no concept to all of them, by integrated gradients. removal: by
    how much the logit falls where the concept is taken out. random: the mean absolute change along random directions of
    equal size. where: the text, word by word, in the concept's activations.
    """

    id: int
    name: str
    activation: float
    by_gradient: float
    by_path: float
    removal: float
    random: float
    where: Explanation

    @property
    def is_ahead(self) -> bool:
        """Whether taking it out moves the answer more than a random direction does."""
        return abs(self.removal) > self.random


@dataclass(frozen=True, eq=False, repr=False)
class TextConcepts:
    """The concepts of one text, those that move the answer most first.

    answer: class and logit of the model's own answer: rest + the concepts' `by_path` + gap + error. rest: the logit
    without any concept. error: what the reconstruction from all concepts lacks of it. gap: of the rise what the path's
    gradients do not explain.
    """

    example: Example
    concepts: tuple[TextConcept, ...]
    label: str
    answer: float
    rest: float
    error: float
    gap: float
    model: str
    layer: int
    caveats: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<TextConcepts: {len(self.concepts)} concepts of {self.example.text[:40]!r}, answered {self.label}>"

    def __str__(self) -> str:
        """How a terminal draws it."""
        return renderers.get("terminal_text_concepts").make(self)

    def _repr_html_(self) -> str:
        """How a notebook draws it."""
        return renderers.get("notebook_text_concepts").make(self)

    def record(self) -> dict[str, object]:
        """Plain values for JSON."""
        plain = {field: getattr(self, field) for field in ("label", "answer", "rest", "error", "gap", "model", "layer")}
        concepts = [
            {field: value for field, value in vars(concept).items() if field != "where"}
            | {"where": as_records([concept.where])[0]}
            for concept in self.concepts
        ]
        example = {"id": self.example.id, "segments": list(self.example.segments)}
        return nan_as_none({**example, **plain, "concepts": concepts, "caveats": list(self.caveats)})


def text_concepts(
    model: ModelSource, text: str | tuple[str, str] | Example, learnt: LearntConcepts | str | Path
) -> TextConcepts:
    """Which learnt concepts a text has, where, and what each does to the answer.

    The answered class's logit is the sum of `rest`, all `by_path`, `gap` and `error`.

    model: the one that the concepts are of; or a folder, a hub name.
    text: a string, a pair, or an `Example`; it must fit into what the model reads at once.
    learnt: what `find_concepts` returned, or its folder.

    Returns `TextConcepts`. Raises `BadFile` for concepts of another model, `ModelCannot` for a text that is too long.

    >>> concepts = pellucid.find_concepts("my-classifier", ["A good film."] * 40 + ["A dull film."] * 40, 1, n=2)
    >>> result = pellucid.text_concepts("my-classifier", "A good film.", concepts)
    >>> total = result.rest + result.error + result.gap + sum(concept.by_path for concept in result.concepts)
    >>> abs(total - result.answer) < 1e-3
    True
    """
    model = model_from(model)
    learnt = learnt if isinstance(learnt, LearntConcepts) else LearntConcepts.read(learnt)
    check_same_model(learnt, model.hash, model.name)
    examples = examples_for(model, text, strange="allowed")
    if len(examples) != 1:
        raise BadInput(f"{len(examples)} texts came; give one, and find_concepts or compare for many.")
    run = concept_pass(model, examples, learnt.layer, learnt.level, learnt.dictionary)  # type: ignore[arg-type]
    return _of_text(run, learnt)


def _of_text(run: ConceptPass, learnt: LearntConcepts) -> TextConcepts:
    names = [concept.name for concept in learnt.concepts]
    count = len(names)
    logit = float(run.predicted.values(run.run.logits.cpu().double())[0])
    none, whole = run.values_at([partial(run.along, 0.0), partial(run.along, 1.0)])[:, 0].tolist()
    by_gradient, by_path = (each[0].numpy() for each in (run.by_gradient(run.predicted), run.by_path()))
    without = run.values_at([partial(run.without, k) for k in range(count)])[:, 0].numpy()
    directions = torch.from_numpy(learnt.directions)
    beside = run.values_at([partial(run.beside, index // DRAWS, each) for index, each in enumerate(directions)])
    random = (beside[:, 0] - logit).abs().reshape(count, DRAWS).mean(1).numpy()
    activations = run.of_units[0].sum(0)
    concepts = [
        TextConcept(
            learnt.concepts[k].id,
            names[k],
            activation=float(activations[k]),
            by_gradient=float(by_gradient[k]),
            by_path=float(by_path[k]),
            removal=float(logit - without[k]),
            random=float(random[k]),
            where=concept_texts(run, k, f"concept {learnt.concepts[k].title}")[0],
        )
        for k in np.argsort(-np.abs(logit - without), kind="stable").tolist()
    ]
    gap = whole - none - float(by_path.sum())
    return TextConcepts(
        run.run.batch.examples[0],
        tuple(concepts),
        learnt.labels[run.predicted.classes[0]],
        logit,
        none,
        logit - whole,
        gap,
        run.run.model.name,
        learnt.layer,
        tuple(_caveats(gap, whole - none, logit - whole, logit)),
    )


def _caveats(gap: float, rise: float, error: float, logit: float) -> Sequence[str]:
    caveats = []
    if abs(gap) > LARGEST_GAP * abs(rise):
        caveats.append(
            f"The shares of the path miss {gap:+.2f} of the rise of {rise:+.2f}: the answer is steep or jumps on the "
            f"way. Trust what taking a concept out does."
        )
    if abs(error) > 0.25 * abs(logit):
        caveats.append(
            f"States made of concepts alone give a logit of {logit - error:.2f} in place of {logit:.2f}: the concepts "
            f"do not tell the whole of this answer."
        )
    return caveats


def concept_texts(run: ConceptPass, concept: int, title: str) -> list[Explanation]:
    """Each text of a pass with a concept's activations as scores, word by word.

    Of a text's state a word has its share of the state's way along the concept.
    """
    texts = []
    for text, example in enumerate(run.run.batch.examples):
        units = run.units[text]
        scores = np.zeros(len(units), np.float32)
        if len(run.of_units[text]) == len(units.content):
            scores[list(units.content)] = run.of_units[text][:, concept]
        else:
            scores[:] = _along(run, text, concept)
        texts.append(_explanation(run, text, example, scores, title))
    return texts


def _along(run: ConceptPass, text: int, concept: int) -> np.ndarray:
    """[word]: its pieces' shares of the mean state's projection on a concept's direction."""
    batch = run.run.batch
    _, index = coarsen(batch.units[text], "word", batch.examples[text].segments)
    pieces = run.states[text, : batch.lengths[text]].cpu().numpy() - run.dictionary.offset
    atom = run.dictionary.atoms[concept]
    content = list(batch.units[text].content)
    shares = np.zeros(len(pieces))
    shares[content] = (pieces @ atom)[content] / max(float(atom @ atom), 1e-12) / len(content)
    return np.bincount(index, shares, minlength=len(run.units[text]))


def _explanation(run: ConceptPass, text: int, example: Example, scores: np.ndarray, title: str) -> Explanation:
    model = run.run.model
    return Explanation(
        example,
        run.units[text],
        scores,
        Explained(title, None, STATE, float(scores.sum())),
        predict(run.run.logits[text].cpu(), model, example),
        "concept_activation",
        {"layer": run.layer, "concept": title},
        0,
        model.name,
        model.hash,
    )
