"""The texts to plant in, part by part; no text is in two parts."""

from collections.abc import Iterable
from pathlib import Path

from pellucid.core.foundation.kinds import datasets
from pellucid.core.text.example import Example, as_examples
from pellucid.datasets.load import load_examples
from pellucid.datasets.shared.splits import SHARES, split_parts


def carrier_parts(source: str | Path | Iterable[object]) -> dict[str, list[Example]]:
    """The parts of a data set or a folder as they are; one file, or a list of texts, is cut into 70, 15 and 15 %.

    A text that occurs again, in the same part or another, is left out.
    """
    if not isinstance(source, str | Path):
        whole = as_examples(source)
    elif Path(source).is_file() and str(source) not in datasets.names():
        whole = tuple(load_examples(source))
    else:
        return _each_once({part: load_examples(source, part) for part in SHARES})
    return _each_once(split_parts(whole))


def _each_once(parts: dict[str, list[Example]]) -> dict[str, list[Example]]:
    seen: set[tuple[str, ...]] = set()
    once: dict[str, list[Example]] = {}
    for part, examples in parts.items():
        once[part] = []
        for example in examples:
            if example.segments not in seen:
                seen.add(example.segments)
                once[part].append(example)
    return once
