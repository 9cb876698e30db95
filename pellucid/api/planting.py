"""The door `plant`: texts whose label has one known reason."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pellucid.api.inputs import examples_from
from pellucid.api.inputs.readings import Data
from pellucid.base.checks import whole
from pellucid.base.files import possible_path
from pellucid.base.json_text import json_digest
from pellucid.base.kinds import reasons
from pellucid.base.output_folder import OutputFolder, check_unwritten, is_damaged
from pellucid.data.exports.json_lines import as_line, write_json_lines
from pellucid.data.planting.plant import PARTS, carrier_parts
from pellucid.data.planting.plant import plant as plant_in
from pellucid.run.blank import HIGHEST_SEED
from pellucid.text.example import Example

FILES = {part: f"{part}.jsonl" for part in PARTS}
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

    Returns the parts: "train", "dev" and "test". Raises `BadFile` where a file of the folder exists already, unless the same call
    wrote it and others of its files are damaged, which are made again; `UnknownName` for a reason or setting that does not exist, `BadSetting` for a value that is not possible, `BadInput`
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
    folder = None if out is None else possible_path(out)
    if folder is not None and not is_damaged(folder):
        check_unwritten(folder / name for name in FILES.values())
    whole("seed", seed, 0, HIGHEST_SEED)
    carriers = str(possible_path(on)) if isinstance(on, str | Path) else examples_from(on)
    parts = plant_in(carrier_parts(carriers), call, n=n, distractor=distractor, seed=seed)
    if folder is not None:
        _write(parts, folder)
    return parts


def _write(parts: dict[str, list[Example]], folder: Path) -> None:
    """Write all parts to a new folder; to a damaged one of the same call, those that are damaged."""
    lines = {part: [as_line(example) for example in examples] for part, examples in parts.items()}
    files = OutputFolder(folder, "plant", json_digest(lines), list(FILES.values()))
    state = files.begin()
    if not state.damaged:
        check_unwritten(folder / name for name in FILES.values())
    for part, name in FILES.items():
        if not (folder / name).exists():
            write_json_lines(parts[part], folder / name)
    files.end(state)
