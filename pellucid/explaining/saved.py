"""Explanations that were computed before, in place of computing them again: of one model, one a text and method."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from pellucid.base.checks import every, in_syntax, listed, quoted, shortened
from pellucid.base.errors import BadInput, BadSetting
from pellucid.explaining.inputs.readings import Data
from pellucid.explaining.read import read_explanations
from pellucid.results.explanation import Explanation
from pellucid.run.model import Model
from pellucid.text.example import Example

_NAMED = re.compile(r"(?<=[(\s])(\w+)=")  # the settings in a title
OfText = Mapping[tuple[str, ...], Explanation]  # the texts of an example -> its explanation


@dataclass(frozen=True)
class SavedExplanations:
    """by_method: method's title -> explanations by text, as they were saved; of equal texts the first."""

    by_method: Mapping[str, OfText]

    @property
    def examples(self) -> tuple[Example, ...]:
        """Every text that has an explanation, once."""
        texts: dict[tuple[str, ...], Example] = {}
        for of_text in self.by_method.values():
            for text, saved in of_text.items():
                texts.setdefault(text, saved.example)
        return tuple(texts.values())

    @property
    def choices(self) -> list[tuple[str, dict[str, Any]]]:
        """The methods with those settings that their titles name; all others are the usual ones."""
        firsts = {title: next(iter(of_text.values())).settings for title, of_text in self.by_method.items()}
        return [
            (title.partition("(")[0], {name: settings[name] for name in _NAMED.findall(title) if name in settings})
            for title, settings in firsts.items()
        ]

    @property
    def digest(self) -> str:
        """32 hexadecimal digits for methods, seeds and scores."""
        digest = blake2b(digest_size=16)
        for title, of_text in self.by_method.items():
            for text, saved in of_text.items():
                digest.update(repr((title, text, saved.seed, str(saved.target))).encode() + saved.scores.tobytes())
        return digest.hexdigest()

    def explanations(self, title: str, examples: Sequence[Example]) -> list[Explanation]:
        """One explanation an example; raises `BadInput` for a text without one."""
        of_text = self.by_method[title]
        missing = [example for example in examples if example.segments not in of_text]
        if missing:
            raise BadInput(
                f"{_place()} has no explanation by {title} of {len(missing):,} of {len(examples):,} texts (first: "
                f"{quoted(shortened(missing[0].text))}); explain the same texts, or leave the data out, and the saved "
                f"texts are taken."
            )
        return [_of_example(of_text[example.segments], example) for example in examples]

    def title(self, method: str | None) -> str:
        """The title of a method, or of the only one; raises `BadSetting` for none or several."""
        titles = [title for title in self.by_method if method in (None, title, title.partition("(")[0])]
        if len(titles) == 1:
            return titles[0]
        what = f"explanations of {len(titles)} methods" if titles else f"no explanations by {method}"
        raise BadSetting(
            f"{_place()} holds {what}; give {in_syntax('method=', '--method')} with one of: {listed(self.by_method)}."
        )


def saved_explanations(source: Sequence[Explanation] | str | Path, model: Model) -> SavedExplanations:
    """The explanations of a file, of a comparison's folder, of a run over a corpus, or in memory.

    Raises `BadInput` where some are of another model than this one, or none is there, and `BadFile` as `read` does.
    """
    results = read_explanations(source) if isinstance(source, str | Path) else source
    results = every(_place(), results, Explanation, "give what explain or read returned, or a file or folder")
    if not results:
        raise BadInput(f"{_place()} holds no explanation; give a file with some.")
    others = [saved for saved in results if saved.model_hash != model.hash]
    if others:
        raise BadInput(
            f"{_place()} holds {len(others):,} explanations of another model ({others[0].model}, digest "
            f"{others[0].model_hash[:8]}; this is {model.name}, {model.hash[:8]}); explain the texts again by this one."
        )
    by_method: dict[str, dict[tuple[str, ...], Explanation]] = {}
    for saved in results:
        by_method.setdefault(saved.method, {}).setdefault(saved.example.segments, saved)
    return SavedExplanations(by_method)


def texts_of(saved: SavedExplanations | None, examples: Data | None) -> Data:
    """The texts that were given, else those that were saved; raises `BadInput` where there are neither."""
    if examples is not None:
        return examples
    if saved is None:
        place = in_syntax("explained=…", "--explained …")
        raise BadInput(f"There are no texts; give data, or saved explanations: {place}.")
    return saved.examples


def _place() -> str:
    return in_syntax("explained=", "--explained")


def _of_example(saved: Explanation, example: Example) -> Explanation:
    """The explanation with the labels and marks of this call."""
    return saved if saved.example == example else replace(saved, example=example)
