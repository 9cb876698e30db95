"""The goal of an attack by name, beside the model: what does not fit is refused before any work."""

from __future__ import annotations

import inspect

from pellucid.attacks.shared.answers import ModelAnswers, TextAnswers
from pellucid.attacks.shared.explained_answers import ExplainedAnswers
from pellucid.core.explaining.explaining import method_calls
from pellucid.core.foundation.call_syntax import in_syntax
from pellucid.core.foundation.catalogue import Call, Choice
from pellucid.core.foundation.errors import BadSetting, ModelCannot, UnknownName
from pellucid.core.foundation.kinds import attack_goals
from pellucid.core.foundation.wording import listed
from pellucid.core.passes.model import Model
from pellucid.core.passes.packing import scheduler_for

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
