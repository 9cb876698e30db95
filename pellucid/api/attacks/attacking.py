"""The door `attack`: edits of texts that change the model's answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from pellucid.api.attacks.attack_cases import places_of, scores_of
from pellucid.api.inputs import examples_for, model_from
from pellucid.api.inputs.data import Data, ModelSource
from pellucid.attacks.shared.attack_case import AttackCase, Goal, Place
from pellucid.attacks.shared.attack_parts import method_of, parts_of
from pellucid.attacks.shared.attack_plan import AttackPlan
from pellucid.attacks.shared.attack_texts import attack_texts
from pellucid.attacks.shared.dictionaries import Dictionaries
from pellucid.core.corpus.attempts import Attempts
from pellucid.core.explaining.predicting import predictions
from pellucid.core.foundation.catalogue import Call
from pellucid.core.foundation.checks import whole
from pellucid.core.foundation.errors import BadSetting, ModelCannot, UnknownName
from pellucid.core.foundation.files import possible_path
from pellucid.core.foundation.kinds import attack_goals, attacks
from pellucid.core.foundation.progress import Progress
from pellucid.core.foundation.wording import listed
from pellucid.core.lexicon.wordnet import DEBIAN
from pellucid.core.passes.model import Model, lacking
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.seeds import HIGHEST_SEED
from pellucid.core.results.attempt import Attempt
from pellucid.core.results.prediction import Prediction
from pellucid.core.text.example import Example
from pellucid.core.text.label_map import LabelMap
from pellucid.reports.terminal.progress_bar import progress_bar

STAGE = "attacking"


def attack(
    model: ModelSource,
    examples: Data,
    attack: str | AttackPlan = "pwws",
    *,
    goal: str = "flip",
    max_queries: int | None = None,
    extractor: str | None = None,
    wordnet: str | Path = DEBIAN,
    pivots: Sequence[str] = ("spanish",),
    seed: int = 0,
    text: str | Sequence[str] | None = None,
    label: str | None = None,
    label_map: LabelMap | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Attempts:
    """Edit texts, a few words or a span, in the order that an explanation gives, until the model's answer changes.

    model: from `load`, `train` or another door; or a folder, a hub name, a text-classification pipeline of transformers or a
        fitted one of scikit-learn.
    examples: a string, a pair, an `Example`, a list of them; a data frame, series or `datasets.Dataset`; a `pathlib.Path`. Texts with a
        label are attacked where the model's answer is right, others in any case.
    attack: its name, or an `AttackPlan` of your own. settings: the attack's own.
    goal: "flip", any other class, or the name of a class that the model shall predict.
    max_queries: for each text at most so many edited texts are given to the model, the passes of the order included; None: no limit.
    extractor: for attacks on spans, what finds them: an extractor or an attribution method; None: "span_attention" for models that have
        it, else "occlusion".
    wordnet: the folder with Princeton's files. pivots: languages of back-translation: "spanish", "catalan", "galician".
    seed: a whole number; the seed of random parts. The same seed makes the same edits, whatever other texts are attacked.
    text, label: columns of a table, where they have unusual names; two columns of texts in a tuple for pairs.
    label_map: label -> class of the model, for labels under other names.
    progress: draw a progress bar; None: when a terminal is watching.

    Returns one `Attempt` a text. Every success is confirmed by a call of the model with the edited text alone. Raises `UnknownName` for an
    attack, class or part that does not exist, `ModelCannot` for a model that has no classes or lacks what the order needs,
    `BadFile`, with the package that brings it, where WordNet or a language is not installed.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> attempts = pellucid.attack(model, [("A good film.", "positive"), ("Dull.", "positive")], "deepwordbug")
    >>> attempts
    <Attempts: 1 of 1 texts fooled by deepwordbug>
    >>> attempts[0].edits[0].before, attempts[0].queries
    ('good', 8)
    >>> attempts[1].ending
    'wrong before'
    """
    model = model_from(model)
    columns: dict[str, Any] = {"text": text, "label": label, "label_map": label_map}
    data = examples_for(model, examples, strange="allowed", **columns)
    whole("seed", seed, 0, HIGHEST_SEED)
    if max_queries is not None:
        whole("max_queries", max_queries, 1, 2**31)
    name, plan, unit = _plan(model, attack, settings)
    goal_call = _goal(model, goal)
    dictionaries = Dictionaries(possible_path(wordnet), tuple(pivots))
    with progress_bar(progress) as show_progress:
        answers = predictions(model, data)
        attacked = [number for number, one in enumerate(data) if _is_right(one, answers[number], model)]
        cases, queries = _cases(
            model, plan, unit, extractor, [data[number] for number in attacked],
            [answers[number] for number in attacked], goal_call, dictionaries, seed,
        )  # fmt: skip
        done = _reported(show_progress, len(cases))
        attempts = attack_texts(
            model, scheduler_for(model), name, parts_of(plan), cases, queries, max_queries, done
        )
    by_number = dict(zip(attacked, attempts, strict=True))
    return Attempts([by_number.get(n) or _skipped(name, one, answers[n]) for n, one in enumerate(data)])


def _plan(model: Model, attack: str | AttackPlan, settings: dict[str, Any]) -> tuple[str, AttackPlan, str]:
    """The attack's title, its plan, and what it edits; raises `ModelCannot` where the model lacks what it needs."""
    if model.problem == "regression":
        raise ModelCannot(f"{model.name} gives a value, not a class; attacks change classes.")
    if isinstance(attack, AttackPlan):
        if settings:
            raise BadSetting(f"An AttackPlan has its settings in its parts; {listed(settings)} came besides.")
        return "plan", attack, "word"
    (call,) = attacks.calls([(attack, settings)])
    if lacks := lacking(model, call.entry.facts["needs"]):
        possible = [
            name for name in attacks.names() if attacks.get(name).facts["needs"] <= model.capabilities
        ]
        raise ModelCannot(
            f"{attack} does not work with {model.name}, which {lacks}. Attacks that work with it: {listed(possible)}."
        )
    return call.title, call(), call.entry.facts["unit"]


def _goal(model: Model, goal: str) -> Call:
    """A goal by name, or a class of the model; raises `UnknownName` for anything else."""
    if goal in attack_goals.names() and goal != "class":
        return attack_goals.calls([goal])[0]
    if goal in model.labels:
        return attack_goals.calls([("class", {"label": goal})])[0]
    raise UnknownName(
        f"No goal is called {goal!r}; give flip, or a class of the model: {listed(model.labels)}."
    )


def _is_right(example: Example, answer: Prediction, model: Model) -> bool:
    """Whether a text is attacked: the answer is its label, or it has none that the model knows."""
    return example.label not in model.labels or example.label == answer.label


def _cases(
    model: Model,
    plan: AttackPlan,
    unit: str,
    extractor: str | None,
    examples: Sequence[Example],
    answers: Sequence[Prediction],
    goal: Call,
    dictionaries: Dictionaries,
    seed: int,
) -> tuple[list[AttackCase], list[int]]:
    """A case for each text that is attacked, and what the scores of its order took."""
    method = method_of(plan)
    cases, queries = [], []
    for example, answer in zip(examples, answers, strict=True):
        wish: Goal = goal(answer)
        places, cost = places_of(model, example, unit, extractor, seed)
        scores = None
        if method is not None:
            scores, more = scores_of(model, example, method, places, seed)
            cost += more
        units: tuple[Place, ...] = places
        cases.append(AttackCase(example, units, answer, wish, dictionaries, scores, seed))
        queries.append(cost)
    return cases, queries


def _reported(progress: Progress, total: int) -> Callable[[int], None]:
    return lambda done: progress(STAGE, done, total)


def _skipped(name: str, example: Example, answer: Prediction) -> Attempt:
    """A text whose answer was wrong before."""
    n_words = sum(len(segment.split()) for segment in example.segments)
    return Attempt(name, example, (), answer, answer, 0, n_words, float("nan"), "wrong before")
