"""Judges of learnt concepts, on texts that they were not found in: each is a number beside that of chance."""

from dataclasses import dataclass, replace

import numpy as np

from pellucid.base.kinds import concept_judges
from pellucid.discovery.concept import BesideChance
from pellucid.discovery.dictionaries import Dictionary, discovered, random_dictionary
from pellucid.discovery.measures import Effects, beside_chance, variance_explained
from pellucid.discovery.record import LearntConcepts
from pellucid.discovery.states import StateSample
from pellucid.results.bootstrap import difference, exact_share
from pellucid.results.table import Interval

SEEDS = 3  # of searches that concepts are matched with
FOLDS = 5
CERTAIN = 0.025  # the share of directions of chance that surely move answers more than others


@dataclass(frozen=True, eq=False)
class JudgedCase:
    """Concepts and texts to judge them on.

    learnt: the concepts. sample: states of the texts. answers: [text], the class that the model answers, by its number.
    effects: what concepts do to some of the texts. chance: as many random directions, drawn with the spread of these
    states. seed: of draws.
    """

    learnt: LearntConcepts
    sample: StateSample
    answers: np.ndarray
    effects: Effects
    chance: Dictionary
    seed: int

    def search(self, states: np.ndarray, seed: int) -> np.ndarray:
        """[concept width]: the directions that the same method finds in other states."""
        return discovered(states, self.learnt.method, len(self.learnt), seed, self.learnt.level).atoms


def matched(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """[concept]: the cosine, 0 to 1 and whatever the sign, of each direction with its partner in the best matching.

    Kuhn (1955), "The Hungarian Method for the Assignment Problem".
    """
    from scipy.optimize import linear_sum_assignment

    cosines = np.abs(_unit(first) @ _unit(second).T)
    rows, columns = linear_sum_assignment(cosines, maximize=True)
    best: np.ndarray = cosines[rows, columns]
    return best


def _unit(directions: np.ndarray) -> np.ndarray:
    lengths = np.linalg.norm(directions, axis=1, keepdims=True)
    unit: np.ndarray = directions / np.maximum(lengths, 1e-12)
    return unit


@concept_judges.add(better="higher")
def variance(case: JudgedCase) -> BesideChance:
    """The share of the states' variance that is left in their reconstruction from concepts; at most 1.

    Source: Fel et al. (2023), "A Holistic Approach to Unifying Automatic Concept Extraction and Concept Importance
    Estimation", section 3.
    """
    return variance_explained(case.sample.states, case.learnt.dictionary, case.chance)


@concept_judges.add(better="higher")
def same_answers(case: JudgedCase) -> BesideChance:
    """The share of texts with the same answer where states are made of concepts alone."""
    return case.effects.answers


@concept_judges.add(better="higher")
def completeness(case: JudgedCase) -> BesideChance:
    """How far concepts alone give the answer: 1 where all answers stay, 0 where no more do than the commonest has.

    Source: Yeh et al. (2020), "On Completeness-aware Concept-Based Explanations in Deep Neural Networks", definition
    3.1, with the model's answers as labels.
    """
    counts = np.bincount(case.answers)
    least = counts.max() / counts.sum()
    if least == 1:
        return replace(case.effects.answers, value=_nothing(), chance=_nothing(), over=_nothing())
    scaled = [(each - least) / (1 - least) for each in (case.effects.same, case.effects.same_random)]
    return beside_chance(*scaled)


def _nothing() -> Interval:
    return Interval(float("nan"), float("nan"), float("nan"))


@concept_judges.add(better="lower")
def concepts_needed(case: JudgedCase) -> BesideChance:
    """How many concepts make nine tenths of what all make of a state, as a share of all; over states."""
    return beside_chance(*(_needed(case.sample.states, each) for each in (case.learnt.dictionary, case.chance)))


def _needed(states: np.ndarray, dictionary: Dictionary) -> np.ndarray:
    """[state]: the share; nan where no concept is active."""
    sizes = dictionary.activations(states).astype(float) ** 2 * (dictionary.atoms.astype(float) ** 2).sum(1)
    whole = sizes.sum(1, keepdims=True)
    part = np.cumsum(-np.sort(-sizes, axis=1), axis=1)
    count = (part < 0.9 * whole).sum(1) + 1.0
    return np.where(whole[:, 0] > 0, count / sizes.shape[1], np.nan)


@concept_judges.add(better="higher")
def same_in_other_texts(case: JudgedCase) -> BesideChance:
    """The cosine of each concept with its partner where the search begins anew in these texts, with three other seeds;
    over concepts.
    """
    seeds = [case.seed + 1 + draw for draw in range(SEEDS)]
    cosines = [matched(case.learnt.dictionary.atoms, case.search(case.sample.states, seed)) for seed in seeds]
    return beside_chance(np.mean(cosines, axis=0), _by_chance(case, case.learnt.dictionary.atoms))


@concept_judges.add(better="higher")
def same_in_halves(case: JudgedCase) -> BesideChance:
    """The cosine of partners between searches in two halves of the texts; over concepts."""
    is_first = np.random.default_rng(case.seed).permutation(case.sample.places[:, 0].max() + 1)[
        case.sample.places[:, 0]
    ]
    halves = [case.sample.states[is_first % 2 == side] for side in (0, 1)]
    first, second = (case.search(half, case.seed) for half in halves)
    return beside_chance(matched(first, second), _by_chance(case, first))


def _by_chance(case: JudgedCase, atoms: np.ndarray) -> np.ndarray:
    """[concept]: the cosine with its partner among random directions, a mean over draws."""
    draws = [random_dictionary(case.sample.states, len(atoms), case.seed + 10 + index) for index in range(SEEDS)]
    return np.mean([matched(atoms, draw.atoms) for draw in draws], axis=0)


@concept_judges.add(better="higher")
def share_that_matters(case: JudgedCase) -> BesideChance:
    """The share of concepts whose removal surely moves answers more than a random direction of equal size does."""
    count = len(case.learnt)
    ahead = sum(case.effects.removal(index).is_ahead for index in range(count))
    value, chance = exact_share(ahead, count), Interval(CERTAIN, CERTAIN, CERTAIN)
    return BesideChance(value, chance, difference(value, chance), count)


@concept_judges.add(better="higher")
def simulatability(case: JudgedCase) -> BesideChance:
    """How often a logistic regression that reads a text's concepts alone predicts the model's answer, over fifths of
    the texts; beside one that reads as many random directions.

    Source: Poché et al. (2025), "ConSim: Measuring Concept-Based Explanations' Effectiveness with Automated
    Simulatability", where a language model predicts; here a model that anybody can compute again.
    """
    return beside_chance(*(_predicted(case, each) for each in (case.learnt.dictionary, case.chance)))


def _predicted(case: JudgedCase, dictionary: Dictionary) -> np.ndarray:
    """[text]: 1 where the answer was predicted from the means and the largest of its activations."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    features = _text_features(case.sample, dictionary.activations(case.sample.states), len(case.answers))
    fold = np.random.default_rng(case.seed).permutation(len(case.answers)) % FOLDS
    right = np.zeros(len(case.answers))
    for part in range(FOLDS):
        learn, test = fold != part, fold == part
        if len(np.unique(case.answers[learn])) < 2:
            right[test] = case.answers[test] == case.answers[learn][0]
            continue
        model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
        right[test] = model.fit(features[learn], case.answers[learn]).predict(features[test]) == case.answers[test]
    return right


def _text_features(sample: StateSample, activations: np.ndarray, count: int) -> np.ndarray:
    """[text 2 concept]: the mean and the largest activation of each; 0 for a text without states."""
    text = sample.places[:, 0]
    sizes = np.maximum(np.bincount(text, minlength=count), 1)[:, None]
    sums, largest = np.zeros((count, activations.shape[1])), np.full((count, activations.shape[1]), -np.inf)
    np.add.at(sums, text, activations)
    np.maximum.at(largest, text, activations)
    return np.hstack([sums / sizes, np.where(np.isfinite(largest), largest, 0)])
