"""The door `plant`: texts whose label has one known reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pellucid.api.inputs import examples_from
from pellucid.api.inputs.data import Data
from pellucid.core.foundation.checks import whole
from pellucid.core.foundation.errors import BadFile
from pellucid.core.foundation.files import possible_path
from pellucid.core.foundation.kinds import reasons
from pellucid.core.passes.seeds import HIGHEST_SEED
from pellucid.core.text.example import Example
from pellucid.datasets.planting.carriers import carrier_parts
from pellucid.datasets.planting.plant import PARTS
from pellucid.datasets.planting.plant import plant as plant_in
from pellucid.exports.json_lines import write_json_lines

MOST_TEXTS = 1_000_000  # all of them are in memory


def plant(
    reason: str,
    on: Data = "pocket",
    *,
    out: str | Path | None = None,
    n: int = 1000,
    distractor: float | None = 0.9,
    seed: int = 0,
    **settings: Any,
) -> dict[str, list[Example]]:
    """Make texts whose label has one known reason, from texts of yours.

    reason: "token", "token_pair", "order", "position", "span" or "lexicon".
    on: the texts to plant in: a data set's name, a file, a folder, a list of texts, or a data frame.
    out: a folder to write the parts to, as JSON lines; None: they are only returned.
    n: how many train texts to make, 10 or more; dev and test have a fifth each.
    distractor: how often, in train, a decoy word occurs with its label, 0 to 1; None plants no decoys.
    seed: a whole number; the seed of all draws.
    settings: the reason's own.

    Returns the parts: "train", "dev" and "test". Raises `BadFile` where a file of the folder exists already,
    `UnknownName` for a reason or setting that does not exist, `BadSetting` for a value that is not possible, `BadInput`
    for texts that nothing can be planted in.

    >>> parts = pellucid.plant("token", n=100, out="planted")
    >>> {name: len(part) for name, part in parts.items()}
    {'train': 100, 'dev': 20, 'test': 20}
    >>> example = parts["train"][0]
    >>> mark = example.rationales[0]
    >>> example.segments[0][mark.start : mark.end], example.label
    ('blicket', 'no')
    """
    call = reasons.calls([(reason, settings)])[0]
    whole("n", n, 10, MOST_TEXTS)
    paths = {} if out is None else {part: possible_path(out) / f"{part}.jsonl" for part in PARTS}
    for path in filter(Path.exists, paths.values()):
        raise BadFile(f"{path} is there already; give another folder, or remove it.")
    whole("seed", seed, 0, HIGHEST_SEED)
    carriers = str(possible_path(on)) if isinstance(on, str | Path) else examples_from(on)
    parts = plant_in(carrier_parts(carriers), call, n=n, distractor=distractor, seed=seed)
    for part, path in paths.items():
        write_json_lines(parts[part], path)
    return parts
