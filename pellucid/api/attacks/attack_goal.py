"""The goal of an attack by name, beside the model: what does not fit is refused before any work."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from pellucid.attacks.shared.answers import ModelAnswers, TextAnswers
from pellucid.attacks.shared.attack_case import Place
from pellucid.attacks.shared.dictionaries import Dictionaries
from pellucid.attacks.shared.explained_answers import ExplainedAnswers
from pellucid.core.explaining.explaining import method_calls
from pellucid.core.foundation.catalogue import Call, Choice
from pellucid.core.foundation.errors import BadSetting, ModelCannot, UnknownName
from pellucid.core.foundation.kinds import attack_goals
from pellucid.core.foundation.wording import in_syntax, listed
from pellucid.core.passes.forward_pass import ForwardPass
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for
from pellucid.core.passes.target import ResolvedTarget
from pellucid.core.passes.windows import in_windows
from pellucid.core.text.example import Example
from pellucid.core.text.ranges import pieces_at
from pellucid.models.word_neighbours import word_neighbours

DOES = {
    "single_label": "chooses one class",
    "one_logit": "chooses one class",
    "multi_label": "can give a text several labels",
    "regression": "answers with a value",
}
EXAMPLES = {  # setting that a goal cannot do without -> one of its values, as Python and as the command line write it
    "distance": ("0.5", "0.5"),
    "label": ("'toxic'", "toxic"),
}


def goal_call(model: Model, goal: Choice) -> Call:
    """A goal with its settings, or a class of the model; raises `UnknownName`, `BadSetting` or `ModelCannot` where it does not fit."""
    name = goal if isinstance(goal, str) else goal[0]
    if name not in attack_goals.names() or goal == "class":
        if name not in model.labels:
            raise UnknownName(
                f"No goal is called {name!r}; give {listed(one for one in attack_goals.names() if one != 'class')}, or a class of the model: "
                f"{listed(model.labels)}."
            )
        goal = ("class", {"label": name})
    (call,) = attack_goals.calls([goal])
    if model.problem not in call.entry.facts["problems"]:
        raise ModelCannot(
            f"The goal {call.entry.name} does not work with {model.name}, which {DOES[model.problem]}; give {_instead(model)}."
        )
    for setting, value in call.settings.items():
        if value is inspect.Parameter.empty:
            raise BadSetting(f"The goal {call.entry.name} needs {setting}: give {_written(name, setting)}.")
    if "label" in call.settings and call.settings["label"] not in model.labels:
        raise UnknownName(
            f"{model.name} has no label {call.settings['label']!r}; there are {listed(model.labels)}."
        )
    return call


def answers_for(model: Model, goal: Call, seed: int) -> TextAnswers:
    """How the model is asked for what a goal reads; raises `UnknownName` or `ModelCannot` for a method that cannot explain it."""
    if goal.entry.facts["reads"] != "explanation":
        return ModelAnswers(model, scheduler_for(model), goal.entry.facts["reads"])
    (method,) = method_calls([str(goal.settings["method"])], model)
    k = goal.settings.get("k", 3)
    assert isinstance(k, int)  # checked where the goal was looked up
    return ExplainedAnswers(model, method, seed, k)


def _instead(model: Model) -> str:
    """Goals that work with a model of this kind."""
    if model.problem == "regression":
        return _written("value", "distance")
    if model.problem == "multi_label":
        return _written("label", "label", (repr(model.labels[0]), model.labels[0]))
    return "flip, explanation or a class"


def _written(goal: str, setting: str, value: tuple[str, str] | None = None) -> str:
    """How a goal with a setting is written."""
    python, command_line = value or EXAMPLES.get(setting, ("…", "…"))
    return in_syntax(
        f"goal=({goal!r}, {{{setting!r}: {python}}})", f"--goal {goal} --goal-set {setting}={command_line}"
    )


# What a replacement should gain by the gradient alone: the first-order change of the answer when one
# word's vector becomes another's.
#
# Ebrahimi et al. (2018), "HotFlip", section 3, for words: the gradient at the word's pieces times the
# difference of both vectors.


def first_order_gains(
    model: Model, example: Example, label: str, places: Sequence[Place], dictionaries: Dictionaries
) -> Callable[[int, str], float]:
    """(unit, replacement) -> the rise of a class's logit to first order; minus infinity where no vector is known.

    label: the class. A run of the model with gradients for each window of the text; a unit's gradient is the sum over them.
    """
    number = model.labels.index(label)
    target = ResolvedTarget((number,), None, "logit", model.problem)
    sums: dict[int, Tensor] = {}
    own: dict[int, Tensor] = {}
    windows, _ = in_windows(model.encode([example]))
    for window in range(len(windows)):
        run = ForwardPass(model, windows.select([window]), scheduler_for(model))
        gradient, vectors, units = run.gradient(target)[0], run.embeddings[0], run.batch.units[0]
        for unit, place in enumerate(places):
            pieces = pieces_at(units, place)
            if pieces:
                sums[unit] = sums.get(unit, 0.0) + gradient[pieces].float().sum(0)
                own[unit] = vectors[pieces].float().mean(0)

    def gain(unit: int, replacement: str) -> float:
        vector = dictionaries.vector(replacement)
        if vector is None or unit not in own:
            return float("-inf")
        return float((vector - own[unit]) @ sums[unit])

    return gain


# What a model's language head would write in the place of each word, from the states of the text with
# that word masked.


MOST, AT_ONCE = 50, 16


def masked_fillers(model: Model, example: Example, places: Sequence[Place]) -> list[list[str]]:
    """For each place the fifty likeliest words of one piece, likeliest first; none where no window has the place.

    All pieces of a word are masked, and the head is asked at the first. Raises `ModelCannot` for a model without a mask token.
    """
    head, mask, table = model.language_head, model.blank_ids()["mask"], word_neighbours(model)
    if head is None or mask is None or table is None:
        raise ModelCannot(f"{model.name} has no mask token or no language head; use the candidates synonyms.")
    words, ids = table.words
    blank = model.embed(torch.tensor(mask, device=model.device)).detach()
    fillers: list[list[str]] = [[] for _ in places]
    windows, _ = in_windows(model.encode([example]))
    for window in range(len(windows)):
        run = ForwardPass(model, windows.select([window]), scheduler_for(model))
        pieces = {unit: pieces_at(run.batch.units[0], place) for unit, place in enumerate(places)}
        open_units = [unit for unit, of_unit in pieces.items() if of_unit and not fillers[unit]]
        for first in range(0, len(open_units), AT_ONCE):
            some = open_units[first : first + AT_ONCE]
            points = run.embeddings.repeat(len(some), 1, 1)
            for line, unit in zip(points, some, strict=True):
                line[pieces[unit]] = blank
            states = run.of([0] * len(some), points).state(model.n_layers)
            at = torch.stack([line[pieces[unit][0]] for line, unit in zip(states, some, strict=True)])
            chances = head.log_probabilities(at, model.n_layers, ids)
            for unit, best in zip(some, chances.topk(min(MOST, len(ids))).indices.tolist(), strict=True):
                fillers[unit] = [words[number] for number in best]
    return fillers
