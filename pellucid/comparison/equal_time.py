"""Methods with settings by which each takes equally long: what they are worth for the same wait."""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from pellucid.base.catalogue import Choice
from pellucid.base.checks import choices, quoted
from pellucid.base.errors import BadInput, BadSetting, InputReading, notify
from pellucid.base.kinds import attributions
from pellucid.comparison.compared_part import middle_texts
from pellucid.explaining.explain import explain_all
from pellucid.explaining.inputs.examples import examples_for
from pellucid.explaining.inputs.models import any_model_from
from pellucid.explaining.inputs.readings import Data, ModelSource, methods_to_run
from pellucid.run.model import Model
from pellucid.text.example import Example

TRIED = 4  # texts, spread over their lengths
PARTS = 4  # the first of two trials has so small a part of the second one's evaluations
FEWEST, MOST = 8, 16_384  # evaluations that a method is given

Settings = dict[str, Any]


@dataclass(frozen=True)
class _Duration:
    """What a method takes for a text: seconds before its first evaluation, and for each."""

    before: float
    each: float

    def count(self, seconds: float) -> int:
        """The evaluations that fit the seconds, to two digits, so that noise of the clock changes little."""
        fitting = (seconds - self.before) / max(self.each, 1e-9)
        return min(MOST, max(FEWEST, _two_digits(fitting)))


def at_equal_time(
    model: ModelSource,
    texts: Data,
    methods: Iterable[Choice] | None = None,
    *,
    seconds: float | None = None,
    seed: int = 0,
) -> list[tuple[str, Settings]]:
    """Methods with settings by which each takes about equally long for a text, for `compare`.

    model, texts, methods: as in `compare`; four of the texts are timed. seconds: for a text, above 0; None: what the
        slowest method without a number of evaluations takes, such as occlusion, or where there is none the median of
        all as they are. seed: of random methods.

    A method with a number of evaluations (`n_samples`, `n_steps`, `n_permutations`) gets as many as fit, 8 to 16,384;
    the others stay as they are, and a notice names those that take more than twice as long. Times are of this machine,
    so two calls may give unlike numbers. Returns (name, settings) pairs. Raises `BadSetting` for seconds that are none,
    `BadInput` for no texts, and what `compare` raises for models, texts and methods.

    >>> answer = lambda texts: [[0.1, 0.9] if "good" in text else [0.8, 0.2] for text in texts]
    >>> model = pellucid.from_function(answer, ["negative", "positive"])
    >>> choices_in_time = pellucid.at_equal_time(model, ["A good film.", "Dull."], ["occlusion", "lime"], seconds=0.01)
    >>> [name for name, settings in choices_in_time], 8 <= choices_in_time[1][1]["n_samples"] <= 16_384
    (['occlusion', 'lime'], True)
    """
    model = any_model_from(model)
    if seconds is not None:
        _check_seconds(seconds)
    examples = examples_for(model, texts, names_data=True, strange="allowed")
    if not examples:
        raise BadInput("There is no text to time methods on; give some.")
    tried = middle_texts(examples, min(TRIED, len(examples)))
    named = None if methods is None else choices("methods", methods)
    pairs = [_pair(choice) for choice in methods_to_run(model, named)[0]]
    whole = {index: _timed(model, tried, pair, seed) for index, pair in enumerate(pairs) if not _budget(pair[0])}
    parts = {index: _duration(model, tried, pair, seed) for index, pair in enumerate(pairs) if _budget(pair[0])}
    limit = seconds if seconds is not None else _usual_seconds(pairs, whole, parts)
    slow = [name for index, (name, _) in enumerate(pairs) if whole.get(index, 0.0) > 2 * limit]
    if slow:
        slower = f"more than twice {limit:.2g} s a text, and no setting of theirs says how often the model runs"
        notify(f"These take {slower}: {', '.join(slow)}.", InputReading)
    return [
        (name, settings | ({_budget(name): parts[index].count(limit)} if index in parts else {}))
        for index, (name, settings) in enumerate(pairs)
    ]


def _check_seconds(seconds: float) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds < math.inf:
        raise BadSetting(f"seconds={quoted(seconds)} is no time; give a number above 0.")


def _pair(choice: Choice) -> tuple[str, Settings]:
    """The method's own name and its settings."""
    name, settings = (choice, {}) if isinstance(choice, str) else choice
    return attributions.full_name(name), dict(settings)


def _budget(name: str) -> str:
    """The setting that says how often a method runs the model, with which its cost begins; "" where it has none."""
    entry = attributions.get(name)
    first = str(entry.facts["cost"]).partition(" ")[0]
    return first if first in entry.defaults else ""


def _timed(model: Model, texts: Sequence[Example], pair: tuple[str, Settings], seed: int) -> float:
    """Seconds for a text; the first call is not timed, since it imports and tries."""
    run: Callable[[], object] = lambda: explain_all(model, texts, [pair], seed=seed, progress=False)  # noqa: E731
    run()
    start = perf_counter()
    run()
    return (perf_counter() - start) / len(texts)


def _duration(model: Model, texts: Sequence[Example], pair: tuple[str, Settings], seed: int) -> _Duration:
    """From a trial with a quarter of the evaluations that the method has by default, and one with all."""
    name, settings = pair
    budget = _budget(name)
    few = max(FEWEST, _evaluations(name, settings) // PARTS)
    many = max(_evaluations(name, settings), 2 * few)
    short, long = (_timed(model, texts, (name, settings | {budget: count}), seed) for count in (few, many))
    each = max((long - short) / (many - few), 0.0)
    return _Duration(max(short - each * few, 0.0), each or long / many)


def _usual_seconds(
    pairs: Sequence[tuple[str, Settings]], whole: dict[int, float], parts: dict[int, _Duration]
) -> float:
    """The seconds for a text where none are given."""
    if whole:
        return max(whole.values())
    times = sorted(duration.before + duration.each * _evaluations(*pairs[index]) for index, duration in parts.items())
    return times[len(times) // 2]


def _evaluations(name: str, settings: Settings) -> int:
    """As many as its settings say, or its defaults."""
    return int(settings.get(_budget(name), attributions.get(name).defaults[_budget(name)]))


def _two_digits(count: float) -> int:
    if not 1 <= count < math.inf:
        return 0 if count < 1 else MOST
    digits = max(0, math.floor(math.log10(count)) - 1)
    return int(round(count, -digits))
