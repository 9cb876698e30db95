"""What a model says of a text and why: the question of a page, asked once, with an estimate beforehand."""

import math
import re
from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

from pellucid.base.errors import BadSetting, ModelCannot, ParityBroken
from pellucid.base.kinds import attributions
from pellucid.base.processes import Progress
from pellucid.explaining.explain import explain_all
from pellucid.explaining.inputs.readings import default_method, supported_methods
from pellucid.results.results import Results
from pellucid.results.side_by_side import SideBySide
from pellucid.run.model import WRITING, Model
from pellucid.studio.record import Studio, TextRequest
from pellucid.studio.visit import Visit

USUAL = ("integrated_gradients", "gradient_x_input", "occlusion")  # beside the model's own method


def explained(visit: Visit, question: TextRequest) -> SideBySide:
    """The text of a question explained by its methods, side by side; raises as `Visit.answer` and `explain_all`."""
    model, named = visit.studio.model(question.model), _with_methods(visit, question)
    side_by_side: SideBySide = visit.answer(
        question.model, ("explained", named), lambda progress: _explain(model, named, progress)
    )
    _learn_pace(visit.studio, question.model, _pace(side_by_side))
    return side_by_side


def _learn_pace(studio: Studio, model: str, pace: float) -> None:
    """A faster text counts at once, since the first one of a model warms it up; a slower one by half."""
    before = studio.paces.get(model, pace)
    studio.paces[model] = min(pace, (before + pace) / 2)


def expected_seconds(visit: Visit, question: TextRequest) -> float:
    """About how long a text takes; 0 where it is explained already, or this model has explained nothing yet."""
    named, pace = _with_methods(visit, question), visit.studio.paces.get(question.model, 0.0)
    if visit.studio.desks[question.model].known(("explained", named)) is not None:
        return 0.0
    words = sum(len(text.split()) for text in question.segments)
    return pace * words * sum(passes_of(method, words) for method in named.methods)


def _with_methods(visit: Visit, question: TextRequest) -> TextRequest:
    """The question with its methods by name; of which text it is an edit changes no answer."""
    methods = question.methods or tuple(usual_methods(visit.studio.model(question.model)))
    return replace(question.bare, methods=methods)


def refusals(question: TextRequest, side_by_side: SideBySide) -> dict[str, str]:
    """Method -> why it has no row, of the methods that the reader chose."""
    return {name: why for name, why in side_by_side.left_out.items() if name in question.methods}


def usual_methods(model: Model) -> list[str]:
    """The methods of a page whose reader named none: the model's own, and those that take less than a second."""
    works = supported_methods(model)
    usual = [name for name in USUAL if name in works and not (WRITING in model.capabilities and name != "occlusion")]
    return list(dict.fromkeys([default_method(model), *usual]))


def _explain(model: Model, question: TextRequest, progress: Progress) -> SideBySide:
    """The explanations; their seconds are without those in which the desk let other questions by."""
    away = 0.0

    def report(stage: str, done: int, total: int) -> None:
        nonlocal away
        began = perf_counter()
        progress(stage, done, total)
        away += perf_counter() - began

    side_by_side = _by_each_method(model, question, report)
    return replace(side_by_side, seconds=(side_by_side.seconds or 0.0) - away)


def _by_each_method(model: Model, question: TextRequest, progress: Progress) -> SideBySide:
    """All methods in shared passes; where one of them cannot, each by itself, and why it is left out."""
    try:
        return _by_methods(model, question, question.methods, progress)
    except (ModelCannot, BadSetting, ParityBroken):
        if len(question.methods) == 1:
            raise
    by_method: dict[str, Results] = {}
    left_out: dict[str, str] = {}
    seconds, error = 0.0, None
    for method in question.methods:
        try:
            of_method = _by_methods(model, question, [method], progress)
        except (ModelCannot, BadSetting, ParityBroken) as refusal:
            left_out[method], error = str(refusal), refusal
        else:
            by_method.update(of_method)
            seconds += of_method.seconds or 0.0
    if not by_method and error is not None:
        raise error
    return SideBySide(by_method, left_out, seconds)


def _by_methods(model: Model, question: TextRequest, methods: Sequence[str], progress: Progress) -> SideBySide:
    text: Any = question.example
    answer = None
    if question.is_chat:
        text = [{"role": "user", "content": question.segments[0]}]
        answer = question.segments[1] if len(question.segments) > 1 else None
    return explain_all(model, text, methods, target=question.target, answer=answer, progress=progress)


# What a method will cost, from the passes that it registered and the seconds that passes of this model took.

_COUNT = re.compile(r"(?:about |up to )?(?P<count>\d+|n_\w+(?: x n_\w+)*)")
BACKWARD = 2.0  # a pass with gradients, in passes without


def passes_of(method: str, words: int) -> float:
    """About how many passes of a text a method takes, as its registration says."""
    entry = attributions.get(method)
    cost = str(entry.facts["cost"])
    match = _COUNT.match(cost)
    if match is None:
        return 0.0
    names = match["count"].split(" x ")
    factors: list[Any] = [each if each.isdecimal() else entry.defaults.get(each) or 1 for each in names]
    count: float = math.prod(map(float, factors))
    each = words if re.search(r"\ba (?:word|piece)\b", cost) else 1
    return count * each * (BACKWARD if "gradients" in cost or "back" in cost else 1.0)


def seconds_in_words(seconds: float) -> str:
    """About how long something takes: "about 40 s", "about 7 min"."""
    if seconds < 1:
        return "under a second"
    if seconds < 100:
        return f"about {round(seconds, -1) if seconds > 20 else round(seconds):.0f} s"
    return f"about {seconds / 60:.0f} min" if seconds < 6000 else f"about {seconds / 3600:.1f} h"


def estimate(visit: Visit, model: str, method: str, words: int) -> str:
    """About how long a method takes on a text of so many words; "" where this model has explained nothing yet."""
    pace = visit.studio.paces.get(model)
    return "" if pace is None else seconds_in_words(pace * passes_of(method, words) * words)


def _pace(side_by_side: SideBySide) -> float:
    """Seconds a pass and word."""
    words = _words(side_by_side)
    passes = sum(passes_of(title.partition("(")[0], words) for title in side_by_side)
    return (side_by_side.seconds or 0.0) / max(1.0, passes * words)


def _words(side_by_side: SideBySide) -> int:
    first = next(iter(side_by_side.values()))[0]
    return max(1, sum(len(text.split()) for text in first.example.segments))
