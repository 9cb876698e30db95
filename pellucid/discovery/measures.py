"""How much of states and answers concepts hold, and how far answers move without them, beside random directions."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch

from pellucid.base.memory import give_back
from pellucid.discovery.concept import BesideChance, ClassEffect
from pellucid.discovery.dictionaries import Dictionary, in_turn
from pellucid.discovery.effects import ConceptPass, checked_pass, with_concepts
from pellucid.discovery.states import Level
from pellucid.results.bootstrap import (
    bootstrap_interval,
    paired_difference,
    percentile_interval,
    resampled_means,
)
from pellucid.run.model import Model
from pellucid.run.scheduler import Scheduler
from pellucid.run.target import class_logits
from pellucid.text.example import Example

PIECES_AT_ONCE = 512  # of texts whose changed states are in memory together
DRAWS = 2  # random directions that stand beside the removal of each concept
MOST_CLASSES = 20  # of which contributions are computed
STAGE = "taking concepts out"


@dataclass(frozen=True, eq=False)
class Effects:
    """What concepts do to the answers of some texts.

    texts: how many. moved: [text concept], by how much the answered logit moves without the concept, signed. random:
    [text concept], the mean of its absolute changes along random directions. by_class: [text concept class], activation
    times gradient of each class's logit, less its mean over the classes. same, same_random: [text], whether the answer
    from reconstructed states is the model's own, by concepts and by as many random directions. classes: their names.
    """

    texts: int
    moved: np.ndarray
    random: np.ndarray
    by_class: np.ndarray
    same: np.ndarray
    same_random: np.ndarray
    classes: tuple[str, ...]

    def removal(self, concept: int) -> BesideChance:
        """The absolute changes without a concept, beside those along random directions of equal size."""
        return beside_chance(np.abs(self.moved[:, concept]), self.random[:, concept])

    def class_effects(self, concept: int) -> tuple[ClassEffect, ...]:
        """The classes by the mean of what the concept adds, the most first."""
        each = [
            ClassEffect(label, bootstrap_interval(self.by_class[:, concept, index]))
            for index, label in enumerate(self.classes)
        ]
        return tuple(sorted(each, key=lambda effect: -effect.value.mean))

    @property
    def answers(self) -> BesideChance:
        """The share of texts with the same answer."""
        return beside_chance(self.same, self.same_random)


def beside_chance(values: np.ndarray, chance: np.ndarray) -> BesideChance:
    """Means of [text] beside those of chance, with bootstrap intervals over texts."""
    return BesideChance(
        bootstrap_interval(values), bootstrap_interval(chance), paired_difference(values, chance), len(values)
    )


def variance_explained(states: np.ndarray, dictionary: Dictionary, chance: Dictionary) -> BesideChance:
    """The share of the states' variance that a reconstruction holds, 1 - squared error / variance, beside that of
    random directions.

    states: [state width]; intervals are over states.
    """
    mean = states.mean(0)
    total = np.concatenate([((states[some] - mean) ** 2).sum(1) for some in in_turn(len(states))])
    ours, theirs = (each.errors(states) for each in (dictionary, chance))
    means = resampled_means(np.stack([total, ours, theirs], axis=1).astype(float), 1000, 0)
    whole = np.array([total.mean(), ours.mean(), theirs.mean()])[None]
    shares = {name: (1 - all_means[:, column] / all_means[:, 0]) for name, column, all_means in _columns(means)}
    exact = {name: float(1 - values[0, column] / values[0, 0]) for name, column, values in _columns(whole)}
    interval = lambda draws, value: percentile_interval(value, draws, len(states))  # noqa: E731
    return BesideChance(
        interval(shares["ours"], exact["ours"]),
        interval(shares["chance"], exact["chance"]),
        interval(shares["ours"] - shares["chance"], exact["ours"] - exact["chance"]),
        len(states),
    )


def _columns(means: np.ndarray) -> list[tuple[str, int, np.ndarray]]:
    return [("ours", 1, means), ("chance", 2, means)]


def effects_on(
    model: Model,
    examples: Sequence[Example],
    layer: int,
    level: Level,
    pair: tuple[Dictionary, Dictionary],
    directions: np.ndarray,
    report: Callable[[int, int], None],
) -> Effects:
    """The effects on texts that fit one window. pair: concepts, and as many random directions. directions: [concept x
    draw width], of removals."""
    groups = Scheduler(PIECES_AT_ONCE).packs(model.encode(examples).lengths)  # alike in length
    parts, done = [], 0
    for group in groups:
        report(done, len(examples))
        run = checked_pass(model, [examples[index] for index in group])
        ours, by_chance = (with_concepts(run, layer, level, dictionary) for dictionary in pair)
        parts.append(_effects(ours, by_chance, torch.from_numpy(directions)))
        done += len(group)
        give_back()  # passes of many lengths leave gaps
    report(len(examples), len(examples))
    back = np.argsort(np.concatenate(groups))
    moved, random, by_class, same, same_random = (np.concatenate(column)[back] for column in zip(*parts, strict=True))
    classes = tuple(model.labels[:MOST_CLASSES])
    return Effects(len(examples), moved, random, by_class, same, same_random, classes)


def _effects(run: ConceptPass, random_run: ConceptPass, directions: torch.Tensor) -> list[np.ndarray]:
    count = len(run.dictionary.atoms)
    answer = run.predicted.values(run.run.logits.cpu().double())
    without = run.values_at([partial(run.without, concept) for concept in range(count)])
    beside = run.values_at(
        [partial(run.beside, index // DRAWS, direction) for index, direction in enumerate(directions)]
    )
    random = (beside - answer).abs().reshape(count, DRAWS, -1).mean(1)
    same = [_same_answer(each) for each in (run, random_run)]
    return [(answer - without).T.numpy(), random.T.numpy(), class_contributions(run), *same]


def _same_answer(run: ConceptPass) -> np.ndarray:
    """[text]: 1 where the answer from reconstructed states is the model's own."""
    problem = run.run.model.problem
    rebuilt = class_logits(run.logits_at([partial(run.along, 1.0)])[0], problem).argmax(-1)
    return (rebuilt == class_logits(run.run.logits.cpu(), problem).argmax(-1)).double().numpy()


def class_contributions(run: ConceptPass) -> np.ndarray:
    """[text concept class]: activation times gradient of each class's logit, less its mean over the classes."""
    classes = run.run.model.labels[:MOST_CLASSES]
    each = torch.stack([run.by_gradient(run.target(index)) for index in range(len(classes))], -1)
    if each.shape[-1] > 1:
        each = each - each.mean(-1, keepdim=True)
    return each.numpy()
