"""Texts of an earlier comparison: their explanations and values are copied, and the others are compared."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from pellucid.base.checks import changes, in_syntax, listed
from pellucid.base.errors import BadFile, BadSetting
from pellucid.base.json_text import file_digest, json_digest, read_json
from pellucid.base.output_folder import PARTS, QUESTION
from pellucid.base.processes import Progress
from pellucid.comparison.compared_part import ComparedPart, compared_part, heaviest_of
from pellucid.comparison.comparison import PART_SIZE, Comparison, needs_marks
from pellucid.comparison.judged_part import JudgedPart
from pellucid.results.bootstrap import MetricValues
from pellucid.results.explanation import Explanation
from pellucid.results.explanation_record import content_key
from pellucid.results.storage import read
from pellucid.text.example import Example

OF_THE_WHOLE = ("examples", "resamples", PART_SIZE)  # what a text's values do not depend on
EarlierPart = tuple[dict[str, list[Explanation]], JudgedPart]
Place = tuple[Path, int]  # the file of a part's explanations, and a text's number among its texts


@dataclass(frozen=True)
class EarlierComparison:
    """comparison: that which is asked now. places: a text's content -> where the earlier one has it."""

    comparison: Comparison
    places: Mapping[str, Place] = field(repr=False)
    _last: dict[Path, EarlierPart] = field(default_factory=dict, repr=False)  # the part that was read last

    @property
    def count(self) -> int:
        """How many of the texts are copied."""
        return len(self.comparison.examples) - len(self.others())

    def others(self) -> tuple[Example, ...]:
        """The texts that are not copied."""
        return tuple(each for each in self.comparison.examples if content_key(each) not in self.places)

    def compared_part(self, part_index: int, progress: Progress) -> ComparedPart:
        """The part, of which texts that the earlier comparison has are not computed."""
        examples = [self.comparison.examples[index] for index in self.comparison.part(part_index)]
        keys = [content_key(example) for example in examples]
        fresh = [index for index, key in enumerate(keys) if key not in self.places]
        if len(fresh) == len(keys):
            return compared_part(self.comparison, part_index, progress)
        some = tuple(examples[index] for index in fresh)
        of_fresh = replace(self.comparison, examples=some, calls=self.comparison.metrics, examples_in_part=len(keys))
        computed = compared_part(of_fresh, 0, progress) if fresh else None
        sources = [None if index in fresh else self.places[key] for index, key in enumerate(keys)]
        explanations = {
            call.title: [
                replace(explanation, example=example)
                for explanation, example in zip(self._explained(call.title, sources, computed), examples, strict=True)
            ]
            for call in self.comparison.request.calls
        }
        values = {
            (method, metric.title): self._values((method, metric.title), sources, computed)
            for method in explanations
            for metric in self.comparison.metrics
        }
        rows, tokens = (0, 0) if computed is None else (computed.judged.rows, computed.judged.tokens)
        return ComparedPart(explanations, JudgedPart(values, rows, tokens, heaviest_of(explanations)))

    def _part(self, path: Path) -> EarlierPart:
        if path not in self._last:
            self._last.clear()
            self._last[path] = _explanations(path), JudgedPart.read(_beside(path))
        return self._last[path]

    def _explained(
        self, title: str, sources: Sequence[Place | None], computed: ComparedPart | None
    ) -> list[Explanation]:
        new = iter(computed.explanations[title] if computed else ())
        return [next(new) if source is None else self._part(source[0])[0][title][source[1]] for source in sources]

    def _values(
        self, pair: tuple[str, str], sources: Sequence[Place | None], computed: ComparedPart | None
    ) -> MetricValues:
        """One metric's values for one method, text by text."""
        new = None if computed is None else computed.judged.values[pair]
        fresh, texts = iter(range(len(sources))), list[tuple[MetricValues, int]]()
        for source in sources:
            if source is None:
                assert new is not None
                texts.append((new, next(fresh)))
            else:
                texts.append((self._part(source[0])[1].values[pair], source[1]))
        first = texts[0][0]
        curves = [values.curve[place] for values, place in texts if values.curve is not None]
        columns = np.stack([values.columns[:, place] for values, place in texts], axis=1)
        return MetricValues(columns, first.combine, np.stack(curves) if curves else None, first.grid)


def earlier_comparison(folder: Path, comparison: Comparison) -> EarlierComparison:
    """What a comparison may copy from the folder of an earlier one; parts that are damaged are left aside.

    Raises `BadFile` where the folder holds none, or asks something else, and `BadSetting` for metrics whose values
    depend on all texts.
    """
    if marks := [call.title for call in comparison.metrics if needs_marks(call)]:
        raise BadSetting(
            f"{in_syntax('reuse=', '--reuse')} copies values of single texts, and those of {listed(marks)} depend on "
            f"how many words are marked in all texts; leave one of them away."
        )
    question = _question(folder)
    needed = {
        "methods": [call.title for call in comparison.request.calls],
        "metrics": [call.title for call in comparison.metrics],
    }
    if differing := _differing(question, comparison.question(), needed):
        raise BadFile(f"Texts of {folder} cannot be reused ({differing}); leave it away, or ask as that one did.")
    places, owner = dict[str, Place](), {"comparison": json_digest(question)}
    for path in sorted((folder / PARTS).glob("[0-9]*.parquet")):
        try:
            explained = next(iter(_explanations(path).values()), [])
            JudgedPart.read(_beside(path), {**owner, "part": int(path.stem), "explanations": file_digest(path)})
        except BadFile:
            continue
        places |= {content_key(explanation.example): (path, place) for place, explanation in enumerate(explained)}
    return EarlierComparison(comparison, places)


def _question(folder: Path) -> Mapping[str, object]:
    path = folder / QUESTION
    question = read_json(path) if path.exists() else None
    if not isinstance(question, dict) or "metrics" not in question:
        raise BadFile(f"{folder} holds no comparison; give the folder of an earlier one.")
    return question


def _differing(there: Mapping[str, object], here: Mapping[str, object], needed: Mapping[str, Collection[str]]) -> str:
    """In words, what differs besides the texts. needed: the methods and metrics whose values are copied."""
    before, now = (
        {name: value for name, value in question.items() if name not in OF_THE_WHOLE} for question in (there, here)
    )
    for name, titles in needed.items():
        settings = [_settings(question.pop(name, {}), titles) for question in (before, now)]
        if lacking := [title for title in titles if title not in settings[0]]:
            return f"its {name} lack {listed(lacking)}"
        before[name], now[name] = settings
    return changes(before, now)


def _settings(of_all: object, titles: Collection[str]) -> dict[str, object]:
    return {title: of_all[title] for title in titles if title in of_all} if isinstance(of_all, Mapping) else {}


def _beside(path: Path) -> Path:
    return path.with_suffix(".json")


def _explanations(path: Path) -> dict[str, list[Explanation]]:
    """Method's title -> the explanations of a part's texts."""
    by_method: dict[str, list[Explanation]] = {}
    for explanation in read(path):
        by_method.setdefault(explanation.method, []).append(explanation)
    return by_method
